// The real lakeFS server, built from its Go module: it is in no package registry as a program. None of its code is ours.
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findProgram, removeDirectory, runProgram } from './process.ts'
import { CannotStart } from './real-server.ts'

export const LAKEFS_VERSION = '1.84.0'
const MODULE = `github.com/treeverse/lakefs@v${LAKEFS_VERSION}`
const FETCH_MS = 600_000
/** About five minutes on two idle cores. */
const BUILD_MS = 1_800_000

/** The directory with the programs `lakefs` and `lakectl`: built once for each version, then kept in the user's cache. */
export async function buildLakefs(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'perago-tests')
  const place = join(cache, `lakefs-${LAKEFS_VERSION}`)
  if (existsSync(join(place, 'lakefs'))) return place
  const go = findProgram('go', ['/usr/local/go/bin'], 'golang')
  mkdirSync(cache, { recursive: true })
  // The programs get their final name when all is done: a build that was cut off, or one beside this one, does no harm.
  const partial = mkdtempSync(join(cache, 'partial-'))
  try {
    const source = join(partial, 'source')
    cpSync(await downloadModule(go), source, { recursive: true })
    await runProgram('chmod', ['-R', 'u+w', source], { timeoutMs: FETCH_MS })
    // The server embeds its web page; tests need none.
    mkdirSync(join(source, 'webui/dist'), { recursive: true })
    writeFileSync(join(source, 'webui/dist/index.html'), '<!doctype html>\n')
    const programs = join(partial, 'programs')
    const build = ['build', '-mod=mod', '-o', `${programs}/`, './cmd/lakefs', './cmd/lakectl']
    await runProgram(go, build, { timeoutMs: BUILD_MS, cwd: source })
    rename(programs, place)
  } catch (error) {
    throw new CannotStart(`build ${MODULE}: ${error instanceof Error ? error.message : String(error)}`)
  } finally {
    removeDirectory(partial)
  }
  return place
}

async function downloadModule(go: string): Promise<string> {
  const printed = await runProgram(go, ['mod', 'download', '-json', MODULE], { timeoutMs: FETCH_MS })
  const { Dir: directory } = JSON.parse(printed) as { readonly Dir?: string }
  if (directory === undefined) throw new Error(`go mod download named no directory: ${printed}`)
  return directory
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    // Another run was quicker.
    if (!existsSync(join(to, 'lakefs'))) throw error
  }
}
