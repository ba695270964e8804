/** Parses the text of a configuration file, YAML or JSON, into a tree with line numbers. */

import { CONFIGURATION_DEPTH_MAX } from './limits.ts'
import { isNestedDeeper } from './text-depth.ts'

/** A position in a file; both count from 1. */
export interface FilePosition {
  readonly line: number
  readonly column: number
}

export type FileNode =
  | ({ readonly kind: 'section'; readonly entries: readonly FileEntry[] } & FilePosition)
  | ({ readonly kind: 'value'; readonly value: unknown } & FilePosition)

export interface FileEntry extends FilePosition {
  readonly key: string
  readonly node: FileNode
}

export interface FileProblem extends FilePosition {
  readonly message: string
}

export interface ParsedFile {
  readonly root: FileNode
  readonly problems: readonly FileProblem[]
}

/** JSON is parsed as YAML, of which it is a subset. */
export async function parseConfigurationFile(text: string): Promise<ParsedFile> {
  if (isNestedDeeper(text, CONFIGURATION_DEPTH_MAX)) return tooDeep()
  const { isAlias, isMap, isScalar, LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    prettyErrors: false,
    customTags: [],
  })
  const positionAt = (offset: number | undefined): FilePosition => {
    const { line, col } = lines.linePos(offset ?? 0)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const problems: FileProblem[] = [...document.errors, ...document.warnings].map((error) => ({
    ...positionAt(error.pos[0]),
    message: error.message,
  }))

  const convert = (node: unknown, above: FilePosition): FileNode => {
    const { range } = (node ?? {}) as { readonly range?: readonly number[] | null }
    const position = range?.[0] === undefined ? above : positionAt(range[0])
    if (isAlias(node)) {
      problems.push({ ...position, message: 'write the value out: aliases are not followed here' })
      return { kind: 'value', value: undefined, ...position }
    }
    if (!isMap(node)) {
      const value: unknown = isScalar(node)
        ? node.value
        : document.errors.length > 0
          ? undefined
          : plain(node)
      return { kind: 'value', value, ...position }
    }
    const entries = node.items.map(({ key, value }) => {
      const start = (key as { readonly range?: readonly number[] } | null)?.range?.[0]
      const at = start === undefined ? position : positionAt(start)
      return { key: String(isScalar(key) ? key.value : key), node: convert(value, at), ...at }
    })
    return { kind: 'section', entries, ...position }
  }
  const plain = (node: unknown): unknown =>
    typeof node === 'object' && node !== null && 'toJS' in node
      ? (node as { toJS: (of: typeof document) => unknown }).toJS(document)
      : node

  return { root: convert(document.contents, { line: 1, column: 1 }), problems }
}

function tooDeep(): ParsedFile {
  const top: FilePosition = { line: 1, column: 1 }
  const message = `it is nested more than ${CONFIGURATION_DEPTH_MAX} deep`
  return { root: { kind: 'value', value: undefined, ...top }, problems: [{ ...top, message }] }
}
