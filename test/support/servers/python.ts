// Python packages for tests, each set in its own virtual environment with exact versions.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, type TestContext } from 'vitest'
import { findProgram, removeDirectory, runProgram } from './process.ts'
import { CannotStart } from './real-server.ts'
import { leave } from './servers.ts'

/** Some fifty packages, downloaded once. */
const INSTALL_MS = 600_000
const VERSION_MS = 20_000

export interface PythonEnvironment {
  /** The interpreter that has the packages. */
  readonly python: string
}

/** The packages for the tests of a file; without them they are skipped with the reason, and fail where `CI` is `true`. */
export function usePython(packages: {
  /** What they are, for messages and for the directory's name. */
  readonly name: string
  /** The file that lists them with their versions. */
  readonly requirements: string
}): (context: Pick<TestContext, 'skip'>) => PythonEnvironment {
  const { name } = packages
  let installed: PythonEnvironment | undefined
  let missing = 'it was not installed'
  beforeAll(async () => {
    try {
      installed = await install(packages)
    } catch (error) {
      if (!(error instanceof CannotStart)) throw error
      missing = error.message
    }
  }, INSTALL_MS)
  return (context) => {
    if (installed !== undefined) return installed
    return leave(`${name}: ${missing}`, context, process.env)
  }
}

/**
 * Installs them once for each interpreter: into a directory that gets its name when it is whole, so that a run that was cut
 * off, or another one beside this one, does no harm.
 */
async function install({
  name,
  requirements,
}: {
  readonly name: string
  readonly requirements: string
}): Promise<PythonEnvironment> {
  const python = findProgram('python3', [], 'python3-venv')
  const version = await runProgram(python, ['--version'], { timeoutMs: VERSION_MS })
  const wanted = createHash('sha256').update(readFileSync(requirements)).update(version).digest('hex')
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'perago-tests')
  const place = join(cache, `${name.replaceAll(/[^a-z]+/gi, '-')}-${wanted.slice(0, 16)}`)
  const interpreter = join(place, 'bin/python')
  if (existsSync(interpreter)) return { python: interpreter }
  mkdirSync(cache, { recursive: true })
  const partial = mkdtempSync(join(cache, 'partial-'))
  try {
    await runProgram(python, ['-m', 'venv', partial], { timeoutMs: INSTALL_MS })
    const pip = ['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--no-deps']
    await runProgram(join(partial, 'bin/python'), [...pip, '-r', requirements], { timeoutMs: INSTALL_MS })
    renameWhole(partial, place)
  } catch (error) {
    throw new CannotStart(error instanceof Error ? error.message : String(error))
  } finally {
    removeDirectory(partial)
  }
  return { python: interpreter }
}

function renameWhole(partial: string, place: string): void {
  try {
    renameSync(partial, place)
  } catch (error) {
    // Another run was quicker.
    if (!existsSync(place)) throw error
  }
}
