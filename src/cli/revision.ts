import { resolve } from 'node:path'
import { codeRevisionOf } from '../runtime/modules/code-revision.ts'
import type { Terminal } from './terminal.ts'

/** The revision of the task code: as given, else as `PERAGO_REVISION` says, else the commit that git knows. */
export async function revisionOf(
  module: string,
  { revision }: { readonly revision?: string },
  { directory, environment }: Pick<Terminal, 'directory' | 'environment'>,
): Promise<string | undefined> {
  const given = revision ?? environment['PERAGO_REVISION']
  return given === undefined || given === '' ? codeRevisionOf(resolve(directory, module)) : given
}
