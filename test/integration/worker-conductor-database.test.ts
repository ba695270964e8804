// Goal: a Conductor whose database is away costs no result and no second run.
// Method: PostgreSQL below a Conductor of its own is killed in the moment in which a result is posted. `npm run build` comes
// first.
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, type TestContext } from 'vitest'
import { filesOf, logOf } from '../support/publication-world.ts'
import { askJson } from '../support/servers/http.ts'
import { openKillable } from '../support/servers/killable.ts'
import { CannotStart } from '../support/servers/real-server.ts'
import { leave } from '../support/servers/servers.ts'
import {
  onPostgres,
  openRestartableConductor,
  type RestartableConductor,
} from '../support/worker-conductor/restartable-conductor.ts'
import { openWorkerLakefs, openWorkerWorld, registerTasks, until } from '../support/worker-conductor/world.ts'

const TEST_MS = 900_000
const TASK = 'perago_it_steady'
const AWAY_MS = 10_000

async function open(database: string, context: TestContext): Promise<RestartableConductor> {
  try {
    const conductor = await openRestartableConductor(onPostgres(database))
    onTestFinished(() => conductor.close())
    return conductor
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    return leave(error.message, context, process.env)
  }
}

test(
  'WK-210 WK-214 a result is delivered once after the database of Conductor was away, and the body runs once',
  { timeout: TEST_MS },
  async (context) => {
    const database = await openKillable('postgres', context)
    onTestFinished(() => database.close())
    const { url } = await open(database.url, context)
    await registerTasks(url)
    const lakefs = await openWorkerLakefs()
    onTestFinished(() => lakefs.close())
    const world = await openWorkerWorld(url, lakefs)
    onTestFinished(() => world.close())
    await world.open({ slots: 1 })

    let killed: Promise<void> | undefined
    const posts: string[] = []
    world.front.interfere = async ({ update: { status = '' } }): Promise<'pass'> => {
      if (status !== 'COMPLETED') return 'pass'
      posts.push(status)
      await (killed ??= database.kill())
      return 'pass'
    }
    const runs = world.at('runs')
    const workflow = await world.start(TASK, { runs })
    await until('the result is posted', () => killed !== undefined)
    await killed
    const read = await askJson(`${url}/api/workflow/${workflow}`)
    // As Conductor itself says it, and not worth the name: the same request succeeds soon.
    expect(read).toMatchObject({ status: 500, body: { retryable: false } })
    await wait(AWAY_MS)
    await database.start()
    await until('Conductor has its database again', async () => {
      const { status } = await askJson(`${url}/api/workflow/${workflow}`)
      return status === 200
    })

    const { status, tasks, output } = await world.ended(workflow)
    expect([status, ...tasks.map((task) => task.status)]).toEqual(['COMPLETED', 'COMPLETED'])
    expect((await readFile(runs, 'utf8')).trim().split('\n')).toHaveLength(1)
    const [head, ...earlier] = await logOf(world.repo)
    expect(output).toMatchObject({ workspace: { ref: head?.ref } })
    expect(earlier.map(({ ref }) => ref)).toContain(world.inputRef)
    expect(await filesOf(world.repo)).toMatchObject({ 'data/out.txt': 'text by attempt 0' })
  },
)
