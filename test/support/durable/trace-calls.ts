// What a program asks of the kernel, in order, seen from outside by strace: whether it syncs cannot be seen from inside.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestContext } from 'vitest'

const REGISTER = new URL('../typescript-child/register.mjs', import.meta.url).href
const CALLS = 'fsync,fdatasync,ftruncate,rename,renameat,renameat2,write'
const RUN_MS = 60_000

export interface KernelCall {
  readonly name: 'fsync' | 'fdatasync' | 'ftruncate' | 'rename' | 'renameat' | 'renameat2' | 'write'
  /** As strace shows them, with the path behind each file descriptor. */
  readonly text: string
}

/** Runs a TypeScript program of the tests; its calls in the order in which they ended. Skips the test without strace. */
export function traceCalls(
  context: Pick<TestContext, 'skip'>,
  program: URL,
  ...args: readonly string[]
): readonly KernelCall[] {
  requireStrace(context)
  const directory = mkdtempSync(join(tmpdir(), 'perago-trace-'))
  try {
    const trace = join(directory, 'trace')
    const path = fileURLToPath(program)
    const traced = ['-f', '-y', '-s', '40', '-e', `trace=${CALLS}`, '-o', trace, process.execPath]
    const run = spawnSync('strace', [...traced, '--import', REGISTER, path, ...args], {
      encoding: 'utf8',
      timeout: RUN_MS,
    })
    if (run.status !== 0) throw new Error(`${path} ended with ${String(run.status)}: ${run.stderr}`)
    return readTrace(readFileSync(trace, 'utf8'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}

function requireStrace(context: Pick<TestContext, 'skip'>): void {
  try {
    execFileSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' })
  } catch {
    if (process.env.CI === 'true') throw new Error('CI must have strace, and may trace its own processes')
    context.skip('no strace here, or it may not trace')
  }
}

/** A call that another thread interrupts is shown in two lines; it counts where it ended. */
function readTrace(text: string): readonly KernelCall[] {
  const begun = new Map<string, string>()
  const calls: KernelCall[] = []
  for (const line of text.split('\n')) {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)
    const whole = resumed === null ? rest : (begun.get(thread) ?? '') + (resumed[1] ?? '')
    if (whole.endsWith('<unfinished ...>')) begun.set(thread, whole.slice(0, -'<unfinished ...>'.length))
    else {
      const [, name] =
        /^(fsync|fdatasync|ftruncate|rename|renameat|renameat2|write)\(.*= \d+$/.exec(whole) ?? []
      if (name !== undefined) calls.push({ name: name as KernelCall['name'], text: whole })
    }
  }
  return calls
}

/** The calls between two answers of the program, each of which it tells by a line on standard output. */
export function splitAtAnswers(calls: readonly KernelCall[]): readonly (readonly KernelCall[])[] {
  const parts: KernelCall[][] = [[]]
  for (const call of calls) {
    if (call.name === 'write' && call.text.includes('"answered')) parts.push([])
    else parts.at(-1)?.push(call)
  }
  return parts.slice(0, -1)
}
