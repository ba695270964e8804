/**
 * Whether the text of a YAML or JSON file is nested deeper than this, by brackets or by columns of indentation. The parser ends the
 * whole process on text that is nested thousands of levels deep, so this is asked before. Brackets inside strings count too.
 */
export function isNestedDeeper(text: string, max: number): boolean {
  let depth = 0
  for (const { 0: sign } of text.matchAll(/[[\]{}]/g)) {
    depth += sign === '[' || sign === '{' ? 1 : -1
    if (depth > max) return true
  }
  return text.split('\n').some((line) => (/^[\s?-]*/.exec(line)?.[0].length ?? 0) > max)
}
