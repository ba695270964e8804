import { readFile, rm, writeFile } from 'node:fs/promises'
import { lstatSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidError, messageOf, RefusedError } from '../../base/errors.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { answer } from '../answers.ts'
import { projectFiles, type ProjectManifest } from '../init/project-files.ts'
import type { Terminal } from '../terminal.ts'

export interface InitOptions {
  readonly name?: string
  readonly json?: boolean
}

/** Writes a small project. All of its files, or none. */
export async function initProject(
  directory: string,
  options: InitOptions,
  terminal: Terminal,
): Promise<void> {
  const place = resolve(terminal.directory, directory)
  const name = options.name === undefined ? nameFrom(place) : checkedName(options.name)
  const files = projectFiles(name, await readManifest())
  const taken = Object.keys(files).filter((path) => isThere(join(place, path)))
  if (taken.length > 0) throw wouldOverwrite(place, taken)
  await writeAll(place, files)
  const paths = Object.keys(files)
  answer(terminal, options, { directory: place, name, files: paths }, () => {
    const there = relative(terminal.directory, place)
    return [...paths.map((path) => `wrote ${join(there, path)}`), '', ...nextSteps(there), ''].join('\n')
  })
}

function nextSteps(there: string): readonly string[] {
  return [
    'Next:',
    ...(there === '' ? [] : [`  cd ${there}`]),
    '  npm install',
    '  npm test',
    '  npx perago dev tasks.ts --repository lake',
  ]
}

/** A file that appears meanwhile is not overwritten either. Then those that were written are removed again. */
async function writeAll(place: string, files: Readonly<Record<string, string>>): Promise<void> {
  const written: string[] = []
  try {
    makeDirectory(place, 0o777)
    for (const [path, text] of Object.entries(files)) {
      const file = join(place, path)
      await writeFile(file, text, { flag: 'wx' })
      written.push(file)
    }
  } catch (error) {
    for (const file of written) await rm(file, { force: true })
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw wouldOverwrite(place, [messageOf(error)])
    throw new InvalidError('cli/not-written', `write a project to ${place}: ${messageOf(error)}`, {
      next: 'Name a directory that this user may write to.',
      cause: error,
    })
  }
}

/** A link that leads nowhere is there too. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    // Something above it is no directory, which writing tells better.
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
    throw error
  }
}

async function readManifest(): Promise<ProjectManifest> {
  const file = fileURLToPath(new URL('../../../package.json', import.meta.url))
  const manifest = JSON.parse(await readFile(file, 'utf8')) as Omit<ProjectManifest, 'source'>
  // A clone of the sources may be ahead of what is published, or nothing is.
  const isInstalled = file.includes(`${sep}node_modules${sep}`)
  return { ...manifest, source: isInstalled ? `^${manifest.version}` : `file:${dirname(file)}` }
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,213}$/

/** What npm accepts, made of the name of the directory. */
function nameFrom(place: string): string {
  const name = basename(place)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 214)
  return NAME.test(name) ? name : 'pipeline'
}

function checkedName(name: string): string {
  if (NAME.test(name)) return name
  throw new InvalidError('cli/bad-usage', `read --name ${JSON.stringify(name)}: npm takes no such name`, {
    next: 'Use lower-case letters, digits, ".", "_" and "-".',
  })
}

function wouldOverwrite(place: string, taken: readonly string[]): RefusedError {
  return new RefusedError(
    'cli/would-overwrite',
    `write a project to ${place}: ${taken.join(', ')} ${taken.length === 1 ? 'is' : 'are'} there already`,
    { details: { taken }, next: 'Name a new directory; nothing was written.' },
  )
}
