// A process that hosts an engine and workers over each of some stores, until it is killed. Before that it says `ready`, after some
// deaths of an engine alone: the store suddenly answers nothing, what is on its way may arrive, and another engine takes over while
// the workers live on. The process loads its code at once and opens nothing before it reads a line.
// What happens is written down, one line each, before the next thing happens: START id, RUN id unit task, ACK id unit task, DIE,
// LIFE with what an engine took over.
import { openSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { openEngine } from '../../../dist/engine/host/open-engine.js'
import { openPostgresStore } from '../../../dist/stores/postgres/postgres-store.js'
import { openSqliteStore } from '../../../dist/stores/sqlite/sqlite-store.js'

const { stores, graph, workers, deaths, lifeMs } = JSON.parse(process.argv[2])
const DIED = Symbol('died')
const [line] = await once(process.stdin, 'data')
const { keepOpen } = JSON.parse(String(line))
// The test has ended, however it did.
process.stdin.once('end', () => process.exit(1))
await Promise.all(stores.map(host))
process.exit(0)

async function host({ kind, ledger, ...options }) {
  const file = openSync(ledger, 'a')
  const note = (...words) => writeSync(file, `${Date.now()} ${words.join(' ')}\n`)
  const store = await (kind === 'sqlite' ? openSqliteStore(options) : openPostgresStore(options))
  /** An engine whose store stalls loses its lease for a moment. */
  const patiently = async (act) => {
    for (;;) {
      try {
        return await act()
      } catch (error) {
        note('ERROR', JSON.stringify(String(error)))
        await wait(20)
      }
    }
  }
  const start = async ({ control }) => note('START', await control.start({ name: graph.name }))
  const startMissing = async (engine, most) => {
    const { length } = await engine.control.listOpen()
    const missing = Math.max(0, Math.min(most, keepOpen - length))
    await Promise.all(Array.from({ length: missing }, () => start(engine)))
    return length
  }

  const begin = async () => {
    const mortal = openMortalStore(store)
    const engine = await openEngine({ store: mortal.store })
    while (!engine.isRunning()) await wait(2)
    const { control } = engine
    const timing = { retryDelaySeconds: 0, responseTimeoutSeconds: 1, timeoutPolicy: 'RETRY' }
    await patiently(() => control.registerTask({ name: 'step', retryCount: 1000, ...timing }))
    await patiently(() => control.registerGraph(graph))
    const open = await patiently(() => control.listOpen())
    note('LIFE', open.map(({ workflowId }) => workflowId).join())
    await patiently(() => startMissing(engine, keepOpen))
    return { engine, ...mortal }
  }
  let life = await begin()
  let isOver = false
  /** Of the engine that lives; of the next one where it dies before it answers. */
  const ask = async (act) => {
    while (!isOver) {
      const current = life
      const answer = await Promise.race([act(current.engine), current.died])
      if (answer !== DIED) return answer
      while (life === current) await wait(1)
    }
  }

  const work = async (workerId) => {
    while (!isOver) {
      try {
        const poll = { taskType: 'step', workerId, count: 1, waitMs: 500 }
        for (const { taskId, workflowId, referenceTaskName } of (await ask(({ queue }) =>
          queue.poll(poll),
        )) ?? []) {
          note('RUN', workflowId, referenceTaskName, taskId)
          await wait(Math.random() * 4)
          const status = Math.random() < 0.05 ? 'FAILED' : 'COMPLETED'
          const result = { taskId, workflowId, workerId, status, output: { by: workerId } }
          await ask(({ queue }) => queue.postResult(result))
          const task = await ask(({ queue }) => queue.readTask(taskId))
          if (task?.status === 'COMPLETED') note('ACK', workflowId, referenceTaskName, taskId)
        }
      } catch (error) {
        note('ERROR', JSON.stringify(String(error)))
        await wait(20)
      }
    }
  }
  for (let index = 0; index < workers; index += 1) void work(`${process.pid}-${index}`)

  for (let death = 0; keepOpen > 0 && death < deaths[kind]; death += 1) {
    await wait(Math.random() * lifeMs)
    note('DIE')
    const dead = life
    dead.die()
    // The process still runs, so that the lease would be waited for.
    await store.clear('leases:')
    life = await begin()
  }
  writeSync(1, `${kind} ready\n`)
  while ((await patiently(() => startMissing(life.engine, 8))) > 0) await wait(5)
  isOver = true
  await life.engine.close()
  await store.close()
}

/** After its death nothing is sent, and no answer arrives. */
function openMortalStore(store) {
  let isAlive = true
  let die
  const died = new Promise((resolve) => {
    die = () => {
      isAlive = false
      resolve(DIED)
    }
  })
  const never = new Promise(() => undefined)
  const alive =
    (call) =>
    async (...args) => {
      if (!isAlive) return never
      const answer = await call(...args)
      return isAlive ? answer : never
    }
  const calls = ['get', 'range', 'commit', 'clear'].map((name) => [
    name,
    alive((...args) => store[name](...args)),
  ])
  const { name } = store
  const mortal = {
    name,
    watch: (request) => store.watch(request),
    close: () => store.close(),
    ...Object.fromEntries(calls),
  }
  return { store: mortal, died, die }
}
