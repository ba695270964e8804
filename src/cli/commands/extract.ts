import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { InvalidError, messageOf } from '../../base/errors.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { printableJson } from '../../base/one-line.ts'
import { buildDefinitions, readModule } from '../../runtime/modules/task-modules.ts'
import { answer } from '../answers.ts'
import type { Terminal } from '../terminal.ts'
import { refuseProblems } from './check.ts'

export interface ExtractOptions {
  readonly out?: string
  readonly json?: boolean
}

/** Writes what a module declares as JSON: into a directory, or all of it as one document. */
export async function extractDefinitions(
  path: string,
  options: ExtractOptions,
  terminal: Terminal,
): Promise<void> {
  const module = await readModule(path)
  refuseProblems(path, module)
  const definitions = buildDefinitions(module)
  if (options.out === undefined) {
    terminal.answer(`${printableJson(definitions, 2)}\n`)
    return
  }
  const directory = resolve(terminal.directory, options.out)
  const files = filesOf(definitions)
  try {
    for (const { name, content } of files) {
      makeDirectory(join(directory, name, '..'), 0o777)
      await writeFile(join(directory, name), `${JSON.stringify(content, undefined, 2)}\n`)
    }
  } catch (error) {
    throw new InvalidError('cli/cannot-write', `write the definitions to ${directory}: ${messageOf(error)}`, {
      next: 'Name a directory this user may write with -o.',
      cause: error,
    })
  }
  const written = files.map(({ name }) => join(options.out ?? '', name))
  answer(terminal, options, { files: written }, () => written.map((name) => `${name}\n`).join(''))
}

/** Names consist of letters, digits, `_`, `-` and `.`, and do not begin with the last two. */
function filesOf({ taskDefs, workflowDefs, pipelines, schemas }: ReturnType<typeof buildDefinitions>) {
  return [
    ...taskDefs.map((content) => ({ name: `taskdefs/${content.name}.json`, content })),
    ...workflowDefs.map((content) => ({
      name: `workflows/${content.name}.${content.version}.json`,
      content,
    })),
    ...pipelines.map((content) => ({ name: `pipelines/${content.name}.${content.version}.json`, content })),
    ...schemas.map(({ name, data }) => ({ name: `schemas/${name}.json`, content: data })),
  ]
}
