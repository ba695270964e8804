/**
 * The condition of a DO_WHILE, which is JavaScript in Conductor, as one of our conditions. Supported are comparisons, `&&`,
 * `||`, `!`, and `if (…) { true; } else { false; }` around them.
 *
 * JavaScript knows true and false only, our conditions can be open: what is missing is asked for first.
 */

/** What `$.first…` means: the beginning of a variable of ours, and how many steps of the path it stands for; or why it means nothing. */
export type FindVariable = (
  path: readonly string[],
) => { readonly variable: string; readonly steps: number } | string

export type LoopCondition = { readonly text: string } | { readonly problem: string }

/**
 * ```ts
 * translateLoopCondition("$.work['left'] > 0", find) // { text: 'exists(work.left) && work.left > 0' }
 * ```
 */
export function translateLoopCondition(script: string, find: FindVariable): LoopCondition {
  try {
    const { condition, isNegated } = unwrap(script)
    return { text: new Translation(condition, find).translate(isNegated) }
  } catch (error) {
    if (error instanceof Untranslatable) return { problem: error.message }
    throw error
  }
}

class Untranslatable extends Error {}

const BRANCHES =
  /^if\s*\((.*)\)\s*\{\s*(?:return\s+)?(true|false)\s*;?\s*\}\s*else\s*\{\s*(?:return\s+)?(true|false)\s*;?\s*\}\s*;?$/s

function unwrap(script: string): { readonly condition: string; readonly isNegated: boolean } {
  const [, condition, first, second] = BRANCHES.exec(script.trim()) ?? []
  if (condition === undefined) return { condition: script.trim().replace(/;$/, ''), isNegated: false }
  if (first === second) throw new Untranslatable(`both branches of "if" are ${String(first)}`)
  return { condition, isNegated: first === 'false' }
}

type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='
const OPPOSITES: Readonly<Record<Operator, Operator>> = {
  ...{ '==': '!=', '!=': '==', '<': '>=', '>=': '<', '>': '<=', '<=': '>' },
}

interface Value {
  readonly text: string
  readonly isVariable: boolean
}

type Node =
  | { readonly is: 'all' | 'any'; readonly of: readonly Node[] }
  | { readonly is: 'not'; readonly of: Node }
  | { readonly is: 'compare'; readonly left: Value; readonly operator: Operator; readonly right: Value }
  | { readonly is: 'flag'; readonly value: Value }

const TOKEN =
  /\s*(?:(\$(?:\s*\.\s*[A-Za-z_][\w]*|\[\s*(?:'[^'\\]*'|"[^"\\]*"|\d+)\s*\])+)|(-?\d+(?:\.\d+)?)|('[^'\\]*'|"[^"\\]*")|(true|false|null)\b|(===|!==|==|!=|<=|>=|<|>|&&|\|\||!|\(|\)))/y

class Translation {
  readonly #tokens: readonly RegExpExecArray[]
  readonly #find: FindVariable
  #at = 0

  constructor(script: string, find: FindVariable) {
    this.#find = find
    this.#tokens = readTokens(script)
  }

  translate(isNegated: boolean): string {
    const node = this.#row('any', '||', () => this.#row('all', '&&', () => this.#one()))
    if (this.#at < this.#tokens.length) throw this.#unexpected()
    return print(node, isNegated)
  }

  #row(is: 'all' | 'any', sign: string, readOne: () => Node): Node {
    const of = [readOne()]
    while (this.#takeSign(sign)) of.push(readOne())
    const [only] = of
    return of.length === 1 && only !== undefined ? only : { is, of }
  }

  #one(): Node {
    if (this.#takeSign('!')) return { is: 'not', of: this.#one() }
    if (this.#takeSign('(')) {
      const inside = this.#row('any', '||', () => this.#row('all', '&&', () => this.#one()))
      if (!this.#takeSign(')')) throw this.#unexpected()
      return inside
    }
    const left = this.#value()
    const sign = this.#tokens[this.#at]?.[5]
    const operator = sign === '===' || sign === '!==' ? sign.slice(0, 2) : sign
    if (operator === undefined || !Object.hasOwn(OPPOSITES, operator)) return { is: 'flag', value: left }
    this.#at += 1
    return { is: 'compare', left, operator: operator as Operator, right: this.#value() }
  }

  #value(): Value {
    const [, path, number, quoted, word] = this.#tokens[this.#at] ?? []
    const literal = number ?? word ?? (quoted === undefined ? undefined : JSON.stringify(quoted.slice(1, -1)))
    if (path === undefined && literal === undefined) throw this.#unexpected()
    this.#at += 1
    return path === undefined
      ? { text: literal ?? '', isVariable: false }
      : { text: this.#variable(path), isVariable: true }
  }

  #variable(written: string): string {
    const steps = [...written.matchAll(/\.\s*([A-Za-z_]\w*)|\[\s*(?:'([^']*)'|"([^"]*)"|(\d+))\s*\]/g)].map(
      ([, name, single, double, index]) => name ?? single ?? double ?? Number(index),
    )
    const found = this.#find(steps.map(String))
    if (typeof found === 'string') throw new Untranslatable(`${written} ${found}`)
    return (
      found.variable +
      steps
        .slice(found.steps)
        .map((step) => `[${JSON.stringify(step)}]`)
        .join('')
    )
  }

  #takeSign(sign: string): boolean {
    if (this.#tokens[this.#at]?.[5] !== sign) return false
    this.#at += 1
    return true
  }

  #unexpected(): Untranslatable {
    const found = this.#tokens[this.#at]?.[0].trim()
    return new Untranslatable(found === undefined ? 'it ends too early' : `"${found}" is not expected there`)
  }
}

function readTokens(script: string): readonly RegExpExecArray[] {
  const tokens: RegExpExecArray[] = []
  const scan = new RegExp(TOKEN)
  const end = script.trimEnd().length
  while (scan.lastIndex < end) {
    const from = scan.lastIndex
    const token = scan.exec(script)
    if (token === null) throw new Untranslatable(`"${script.slice(from, from + 20).trim()}" is not supported`)
    tokens.push(token)
  }
  return tokens
}

/** A text of ours that is never open. */
function print(node: Node, isNegated: boolean): string {
  switch (node.is) {
    case 'not':
      return print(node.of, !isNegated)
    case 'flag':
      return printFlag(node.value, isNegated)
    case 'compare':
      return printComparison(node, isNegated)
    default: {
      const sign = (node.is === 'all') === isNegated ? '||' : '&&'
      return node.of.map((each) => enclose(print(each, isNegated))).join(` ${sign} `)
    }
  }
}

function printFlag({ text, isVariable }: Value, isNegated: boolean): string {
  if (!isVariable) return isNegated ? `!${text}` : text
  return isNegated ? `!exists(${text}) || !${text}` : `exists(${text}) && ${text}`
}

function printComparison(node: Node & { readonly is: 'compare' }, isNegated: boolean): string {
  const { left, right } = node
  const operator = isNegated ? OPPOSITES[node.operator] : node.operator
  const asked = [left, right].filter(({ isVariable }) => isVariable)
  const isOfNull = [left, right].some(({ text, isVariable }) => !isVariable && text === 'null')
  const comparison = `${left.text} ${operator} ${right.text}`
  // To JavaScript what is missing differs from everything but null, and is neither below nor above anything.
  const isEquality = node.operator === '==' || node.operator === '!='
  const isTrueOfMissing = (node.operator === '!=') !== (isOfNull && isEquality)
  return isTrueOfMissing !== isNegated
    ? [...asked.map(({ text }) => `!exists(${text})`), comparison].join(' || ')
    : [...asked.map(({ text }) => `exists(${text})`), comparison].join(' && ')
}

function enclose(text: string): string {
  return /&&|\|\|/.test(text) ? `(${text})` : text
}
