// How long nothing is handed out after the engine was killed, by the number of open executions: from SIGKILL until a new process has
// taken all of them over, the start of the process included.
import { join } from 'node:path'
import { printTable, quantile } from '../support/figures.mjs'
import { openEngineProcess, chainOf } from '../support/engines.mjs'
import { openBench } from '../support/processes.mjs'

const UNITS = 10
const AT_ONCE = [1, 100, 1_000]
const TIMES = 3
const NAME = 'perago_bench_recovery'

export async function benchRecovery({ executions = AT_ONCE } = {}) {
  const bench = openBench('engine-recovery')
  const rows = []
  try {
    for (const count of executions) {
      const place = { sqlite: join(bench.directory, `recovery-${count}.db`) }
      let engine = await openEngineProcess(bench, place)
      await engine.ask('register', chainOf(NAME, 'perago_bench_hop', UNITS))
      await engine.ask('start', { name: NAME, count, atOnce: 16 })
      const samples = []
      for (let time = 0; time < TIMES; time += 1) {
        const killedMs = performance.now()
        await engine.kill()
        engine = await openEngineProcess(bench, place)
        samples.push(performance.now() - killedMs)
        if (engine.opened.open !== count) throw new Error(`${engine.opened.open} of ${count} were taken over`)
      }
      rows.push([count, quantile(samples, 0.5), Math.max(...samples)])
      await engine.kill()
    }
  } finally {
    await bench.close()
  }
  console.log('## From SIGKILL until another process runs everything, SQLite\n')
  printTable(['open executions', 'p50 ms', 'most ms'], rows)
}
