/** JSON that is given on the command line. */

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidError, messageOf } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Terminal } from './terminal.ts'

/** The text itself, or `@FILE`. Throws `cli/bad-input`. */
export async function readJsonObjectArgument(
  flag: string,
  text: string,
  terminal: Terminal,
): Promise<JsonObject> {
  try {
    const json = text.startsWith('@')
      ? await readFile(resolve(terminal.directory, text.slice(1)), 'utf8')
      : text
    const input: unknown = JSON.parse(json)
    if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as JsonObject
    throw new Error('it is not an object')
  } catch (error) {
    throw new InvalidError('cli/bad-input', `read ${flag}: ${messageOf(error)}`, {
      next: 'Write the input as a JSON object in single quotes, or name a file with @FILE.',
      cause: error,
    })
  }
}
