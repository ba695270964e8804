/** Patterns of branch names: those of action files, with `*`, `?`, `[a-z]`, `[^a]` and `\`, and simpler ones with `*` and `?`. */

type Token =
  { readonly kind: 'star' } | { readonly kind: 'one'; readonly accepts: (character: string) => boolean }

/** False for a pattern that is malformed, such as one with an unclosed `[`. */
export function isGlob(pattern: string): boolean {
  return tokenize(pattern) !== undefined
}

/** Whether the whole text matches. Branch names hold no slash, so `*` needs no exception for one. */
export function matchesGlob(pattern: string, text: string): boolean {
  const tokens = tokenize(pattern)
  return tokens !== undefined && matchesTokens(tokens, text)
}

/** As `matchesGlob`, for patterns in which only `*` and `?` are special. */
export function matchesWildcards(pattern: string, text: string): boolean {
  return matchesTokens(Array.from(pattern, wildcardToken), text)
}

function matchesTokens(tokens: readonly Token[], text: string): boolean {
  const characters = Array.from(text)
  // Only the latest star ever has to take one character more, so the time is bounded by both lengths multiplied.
  let [tokenAt, characterAt, starAt, resumeAt] = [0, 0, -1, 0]
  while (characterAt < characters.length) {
    const token = tokens[tokenAt]
    if (token?.kind === 'star') {
      ;[starAt, resumeAt] = [tokenAt, characterAt]
      tokenAt += 1
    } else if (token?.kind === 'one' && token.accepts(characters[characterAt] ?? '')) {
      tokenAt += 1
      characterAt += 1
    } else if (starAt >= 0) {
      resumeAt += 1
      ;[tokenAt, characterAt] = [starAt + 1, resumeAt]
    } else {
      return false
    }
  }
  return tokens.slice(tokenAt).every((token) => token.kind === 'star')
}

function tokenize(pattern: string): readonly Token[] | undefined {
  const characters = Array.from(pattern)
  const tokens: Token[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? ''
    if (character === '[') {
      const close = characters.indexOf(']', at + 1)
      const accepts = close < 0 ? undefined : readClass(characters.slice(at + 1, close))
      if (accepts === undefined) return undefined
      tokens.push({ kind: 'one', accepts })
      at = close
    } else if (character === '\\') {
      at += 1
      const literal = characters[at]
      if (literal === undefined) return undefined
      tokens.push(literalToken(literal))
    } else {
      tokens.push(wildcardToken(character))
    }
  }
  return tokens
}

function wildcardToken(character: string): Token {
  if (character === '*') return { kind: 'star' }
  return character === '?' ? { kind: 'one', accepts: () => true } : literalToken(character)
}

function literalToken(literal: string): Token {
  return { kind: 'one', accepts: (other) => other === literal }
}

function readClass(members: readonly string[]): ((character: string) => boolean) | undefined {
  const isNegated = members[0] === '^'
  const rest = isNegated ? members.slice(1) : members
  const ranges: [string, string][] = []
  for (let at = 0; at < rest.length; at += 1) {
    const low = rest[at] ?? ''
    const isRange = rest[at + 1] === '-'
    const high = isRange ? rest[at + 2] : low
    if (high === undefined || low === '-') return undefined
    ranges.push([low, high])
    if (isRange) at += 2
  }
  if (ranges.length === 0) return undefined
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== isNegated
}
