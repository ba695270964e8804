// Runs the commands of a guide, word for word, in a project with perago installed and a copy of the examples.
import { execFile } from 'node:child_process'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { PROJECT_ROOT } from '../source-tree.ts'
import type { Project } from './command.ts'

const GUIDE_MS = 120_000

/** What the commands print. */
export async function runGuide(
  page: string,
  { project, environment = {} }: { readonly project: Project; readonly environment?: NodeJS.ProcessEnv },
): Promise<string> {
  const programs = join(project.directory, 'node_modules/.bin')
  await mkdir(programs, { recursive: true })
  await symlink(join(PROJECT_ROOT, 'dist/cli/main.js'), join(programs, 'perago'))
  await cp(join(PROJECT_ROOT, 'examples'), join(project.directory, 'examples'), {
    recursive: true,
    filter: (path) => basename(path) !== 'node_modules',
  })
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(PROJECT_ROOT, 'scripts/run-document.mjs'), resolve(PROJECT_ROOT, page), project.directory],
    {
      env: {
        PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
        HOME: process.env.HOME,
        PERAGO_TEST_MARK: process.env.PERAGO_TEST_MARK,
        ...environment,
      },
      timeout: GUIDE_MS,
    },
  )
  return stdout
}
