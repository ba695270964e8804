import { fileURLToPath } from 'node:url'
import { runProgram } from './process.ts'
import { CannotStart } from './real-server.ts'

const SCRIPT = fileURLToPath(new URL('../../../scripts/build-lakefs.mjs', import.meta.url))
const BUILD_MS = 1_800_000

/** The directory with the programs of the real lakeFS: built once for each version, then kept in the user's cache. */
export async function buildLakefs(): Promise<string> {
  try {
    return await runProgram(process.execPath, [SCRIPT], { timeoutMs: BUILD_MS })
  } catch (error) {
    throw new CannotStart(`build lakeFS: ${error instanceof Error ? error.message : String(error)}`)
  }
}
