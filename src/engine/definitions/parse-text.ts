/** Parses YAML, of which JSON is a subset, into plain data, and remembers where everything was. */

import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml'
import { isNestedDeeper } from '../../base/text-depth.ts'
import { JSON_DEPTH_MAX } from '../../core/limits.ts'
import { PIPELINE_TEXT_DEPTH_MAX } from '../limits.ts'
import { readPlainText } from './plain-text.ts'
import { printPath, type Path } from './shape.ts'
import { isObject } from './values.ts'

export interface TextPosition {
  /** Both count from 1. */
  readonly line: number
  readonly column: number
}

export interface TextProblem extends TextPosition {
  /** Such as `units.clean.after[0]`; empty for the whole text. */
  readonly at: string
  readonly message: string
}

export interface ParsedText {
  readonly value: unknown
  readonly problems: readonly TextProblem[]
  /** Of a value, or of its key; of the nearest one around it that is in the text. */
  readonly locate: (path: Path, isKey: boolean) => TextPosition
}

const TOP: TextPosition = { line: 1, column: 1 }

export function parseText(text: string): ParsedText {
  if (isNestedDeeper(text, PIPELINE_TEXT_DEPTH_MAX))
    return failed(`it is nested more than ${PIPELINE_TEXT_DEPTH_MAX} deep`)
  const value = readPlainText(text)
  if (value === undefined) return parseWholeYaml(text)
  // Places are looked for only where something is wrong.
  let parsed: ParsedText | undefined
  const locate: ParsedText['locate'] = (path, isKey) => (parsed ??= parseWholeYaml(text)).locate(path, isKey)
  return { value, problems: findNotJson(value, [], locate), locate }
}

function parseWholeYaml(text: string): ParsedText {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, version: '1.2', prettyErrors: false })
  const positionAt = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const locate = (path: Path, isKey: boolean): TextPosition => positionAt(offsetOf(document, path, isKey))
  const problems = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    ...positionAt(pos[0]),
    at: '',
    message,
  }))
  if (problems.length > 0) return { value: undefined, problems, locate }
  try {
    const value: unknown = document.toJS({ maxAliasCount: 100 })
    return { value, problems: findNotJson(value, [], locate), locate }
  } catch (error) {
    // Aliases that multiply one another.
    if (!(error instanceof ReferenceError)) throw error
    return failed(error.message)
  }
}

function failed(message: string): ParsedText {
  return { value: undefined, problems: [{ ...TOP, at: '', message }], locate: () => TOP }
}

/** YAML has numbers that JSON has not, and may nest deeper than values of the core. */
function findNotJson(value: unknown, path: Path, locate: ParsedText['locate']): readonly TextProblem[] {
  const wrong = (message: string): TextProblem[] => [{ ...locate(path, false), at: printPath(path), message }]
  if (path.length > JSON_DEPTH_MAX) return wrong(`it is nested more than ${JSON_DEPTH_MAX} deep`)
  if (typeof value === 'number' && !Number.isFinite(value)) return wrong('must be a finite number')
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => findNotJson(item, [...path, index], locate))
  if (isObject(value))
    return Object.entries(value).flatMap(([key, item]) => findNotJson(item, [...path, key], locate))
  return isPlain(value) ? [] : wrong('must be text, a number, true, false, null, a list or an object')
}

function isPlain(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

/** Follows a path as far as it is in the text. */
function offsetOf(document: Document.Parsed, path: Path, isKey: boolean): number {
  let at: unknown = document.contents
  let offset = startOf(at) ?? 0
  for (const [index, step] of path.entries()) {
    if (isAlias(at)) at = at.resolve(document)
    if (isSeq(at)) at = at.items[Number(step)]
    else if (isMap(at)) {
      const pair = at.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step))
      if (pair === undefined) return offset
      if (isKey && index === path.length - 1) return startOf(pair.key) ?? offset
      offset = startOf(pair.key) ?? offset
      at = pair.value
    } else return offset
    offset = startOf(at) ?? offset
  }
  return offset
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}
