import { resolve } from 'node:path'
import type { DataOptions } from './options.ts'
import type { Terminal } from './terminal.ts'

/** Where executions are kept, seen from the working directory. */
const CORE_DATA_DIR = '.perago/core'

export function coreDirectory({ data }: Pick<DataOptions, 'data'>, terminal: Terminal): string {
  return resolve(terminal.directory, data ?? CORE_DATA_DIR)
}
