// Goal: a lakeFS that is killed and comes back costs twenty workflows of a real Conductor nothing but time.
// Method: as in `worker-outage.test.ts`, over the lakeFS of the suite. Outages of 10 s and 60 s; one more of as many seconds as
// PERAGO_TEST_OUTAGE_SECONDS says, such as 300. `npm run build` comes first.
import { onTestFinished, test } from 'vitest'
import { openRestartableLakefs } from '../support/servers/restartable-lakefs.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { surviveOutage } from '../support/worker-conductor/outage.ts'
import { openWorkerLakefs, openWorkerWorld, registerTasks } from '../support/worker-conductor/world.ts'

const OUTAGES_SECONDS = [10, 60, Number(process.env.PERAGO_TEST_OUTAGE_SECONDS ?? 0)].filter((of) => of > 0)
const END_MS = 240_000
const conductor = useRealServer('conductor')

for (const seconds of OUTAGES_SECONDS) {
  test(
    `WK-244 a lakeFS killed for ${seconds} s costs twenty workflows neither a retry nor a commit`,
    { timeout: 2 * END_MS + seconds * 1_000 },
    async (context) => {
      const { url } = conductor(context)
      const server = await openRestartableLakefs()
      const lakefs = await openWorkerLakefs(server)
      onTestFinished(() => lakefs.close())
      await registerTasks(url)
      const world = await openWorkerWorld(url, lakefs)
      onTestFinished(() => world.close())
      await surviveOutage(world, server, { workflows: 20, outageMs: seconds * 1_000, endMs: END_MS })
    },
  )
}
