// Goal: a lakeFS that is away and comes back costs no workflow, no retry and no commit, and leaves nothing behind.
// Method: chains of tasks on one worker; lakeFS or its object store goes away while bodies run, workspaces are laid out and
// commits are published: killed by SIGKILL, or with a proxy that answers in its place. `npm run build` comes first.
import { onTestFinished, test } from 'vitest'
import { declaredTaskDef } from '../../src/runtime/modules/task-registration.ts'
import { openTestQueue } from '../../src/testing/open-test-queue.ts'
import { loadTasks } from '../../src/worker/bodies/load-tasks.ts'
import { openLakefsBehindFronts } from '../support/servers/lakefs-front.ts'
import { openRestartableLakefs, type RestartableLakefs } from '../support/servers/restartable-lakefs.ts'
import { serveTestQueue } from '../support/worker/conductor-http.ts'
import { surviveOutage } from '../support/worker-conductor/outage.ts'
import { openWorkerLakefs, openWorkerWorld, TASKS_PATH } from '../support/worker-conductor/world.ts'

const TEST_MS = 120_000

test(
  'WK-244 a lakeFS killed for three seconds costs eight workflows neither a retry nor a commit',
  { timeout: TEST_MS },
  async () => survive(await openRestartableLakefs({ embedded: true }), 'lakeFS is away'),
)

test(
  'WK-244 a lakeFS that answers 503 to everything costs eight workflows neither a retry nor a commit',
  { timeout: TEST_MS },
  async () => survive(await openLakefsBehindFronts({ of: 'lakefs', answer: 503 }), 'lakeFS is away'),
)

test.each([503, 'cut'] as const)(
  'WK-244 an object store behind presigned addresses that is away (%s) costs eight workflows nothing either',
  { timeout: TEST_MS },
  async (answer) => survive(await openLakefsBehindFronts({ of: 'object-store', answer }), 'the object store'),
)

async function survive(server: RestartableLakefs, says: string): Promise<void> {
  const lakefs = await openWorkerLakefs(server)
  onTestFinished(() => lakefs.close())
  const queue = openTestQueue()
  const defs: Record<string, object> = {}
  for (const task of await loadTasks(TASKS_PATH)) {
    const { name, responseTimeoutSeconds = 60 } = (defs[task.name] = declaredTaskDef(task))
    const retries = { retryCount: 3, retryDelaySeconds: 0 }
    await queue.registerTask({ name, ...retries, responseTimeoutSeconds, timeoutPolicy: 'RETRY' })
  }
  const served = await serveTestQueue(queue, defs)
  onTestFinished(() => served.close())
  const world = await openWorkerWorld(served.url.replace(/\/api$/, ''), lakefs, queue)
  onTestFinished(() => world.close())
  await surviveOutage(world, server, { workflows: 8, outageMs: 3_000, endMs: 60_000, says })
}
