/** A JSON value on the command line: written out, or read from a file (`@FILE`) or standard input (`-`), which may be YAML as well. */

import { resolve } from 'node:path'
import { parseConfigurationFile, type FileNode } from '../base/configuration-file.ts'
import { InvalidError, messageOf } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { readBoundedText } from '../runtime/configuration/text-files.ts'
import { ARGUMENT_FILE_MAX_BYTES } from './limits.ts'
import type { Terminal } from './terminal.ts'

type JsonFlag = '--params' | '--input' | '--result'

/** Throws `cli/bad-params` or `cli/bad-input`, with the place in the file. */
export async function readJsonArgument(flag: JsonFlag, text: string, terminal: Terminal): Promise<Json> {
  if (text === '-') return parseText(flag, 'standard input', await readInput(flag, terminal))
  const path = parameterFileOf(text)
  if (path === undefined) return parseJson(flag, text)
  const file = await readBoundedText(resolve(terminal.directory, path), ARGUMENT_FILE_MAX_BYTES)
  if ('content' in file) return parseText(flag, path, file.content)
  throw badValue(flag, `${JSON.stringify(path)}: ${file.problem}`)
}

/** The same where only an object will do. */
export async function readJsonObjectArgument(
  flag: JsonFlag,
  text: string,
  terminal: Terminal,
): Promise<Readonly<Record<string, Json>>> {
  const value = await readJsonArgument(flag, text, terminal)
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, Json>>
  throw badValue(flag, 'it is not an object')
}

/** The file that such an argument names. */
export function parameterFileOf(text: string): string | undefined {
  return text.startsWith('@') ? text.slice(1) : undefined
}

/** Standard input, to its end. */
export async function readInput(flag: JsonFlag, { input }: Terminal): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input?.() ?? []) {
    bytes += chunk.byteLength
    if (bytes > ARGUMENT_FILE_MAX_BYTES)
      throw badValue(flag, `standard input: it has more than ${ARGUMENT_FILE_MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw badValue(flag, 'standard input: it is not UTF-8 text', error)
  }
}

function parseJson(flag: JsonFlag, text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (error) {
    throw badValue(flag, messageOf(error), error)
  }
}

async function parseText(flag: JsonFlag, place: string, text: string): Promise<Json> {
  if (text.trim() === '') throw badValue(flag, `${place}: it is empty`)
  const { root, problems } = await parseConfigurationFile(text)
  const [problem] = problems
  if (problem !== undefined)
    throw badValue(flag, `${place}:${problem.line}:${problem.column}: ${problem.message}`)
  return toJson(root, (what) => badValue(flag, `${place}: ${what}`))
}

function toJson(node: FileNode, refuse: (what: string) => InvalidError): Json {
  if (node.kind === 'section')
    return Object.fromEntries(node.entries.map((entry) => [entry.key, toJson(entry.node, refuse)]))
  const text = JSON.stringify(node.value ?? null, (_key, value: unknown) => {
    // YAML has numbers that JSON has not.
    if (typeof value === 'number' && !Number.isFinite(value))
      throw refuse(`line ${node.line}: ${value} is not a number in JSON`)
    return value
  })
  return JSON.parse(text) as Json
}

function badValue(flag: JsonFlag, why: string, cause?: unknown): InvalidError {
  return new InvalidError(flag === '--params' ? 'cli/bad-params' : 'cli/bad-input', `read ${flag}: ${why}`, {
    next: 'Write it as JSON in single quotes, or give @FILE, a file of JSON or YAML, or - for standard input.',
    cause,
  })
}
