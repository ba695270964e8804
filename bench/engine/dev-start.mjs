// How long `perago dev` takes from its start until it says ready: engine, lakeFS and worker, on an empty directory and on a used one.
import { once } from 'node:events'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printTable, quantile } from '../support/figures.mjs'
import { openBench, startProgram, waitFor } from '../support/processes.mjs'

const TIMES = 5
const READY_MS = 60_000
const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const TASKS = `import { defineTask } from 'perago'
import { z } from 'zod'
export const hop = defineTask({
  name: 'perago_bench_hop', owner: 'bench@example.org', params: z.object({}), result: z.object({}), body: async () => ({}),
})
`

export async function benchDevStart() {
  const bench = openBench('engine-dev-start')
  try {
    symlinkSync(MODULES, join(bench.directory, 'node_modules'))
    writeFileSync(join(bench.directory, 'tasks.mjs'), TASKS)
    const first = await measure(bench)
    const others = []
    for (let time = 0; time < TIMES; time += 1) others.push(await measure(bench))
    console.log('## `perago dev`, from the command to ready\n')
    printTable(
      ['ms', 'first', 'later, p50', 'later, most'],
      [['until ready', first, quantile(others, 0.5), Math.max(...others)]],
    )
  } finally {
    await bench.close()
  }
}

async function measure(bench) {
  const startMs = performance.now()
  const program = startProgram(process.execPath, [MAIN, 'dev', 'tasks.mjs', '--port', '0'], {
    cwd: bench.directory,
  })
  bench.defer(() => program.close())
  const isReady = () => /^ready/m.test(program.said())
  await waitFor('start perago dev', isReady, { withinMs: READY_MS, program, lookMs: 5 })
  const tookMs = performance.now() - startMs
  const gone = once(program.child, 'exit')
  program.child.kill('SIGTERM')
  await gone
  await program.close()
  return tookMs
}
