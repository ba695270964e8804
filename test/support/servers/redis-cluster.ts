// The smallest cluster: one node with all slots, which refuses operations across slots like any cluster.
import { findFreePort, findProgram, makeDirectory, removeDirectory, startProcess } from './process.ts'
import type { StartedServer } from './real-server.ts'
import { askRedis } from './redis.ts'

const READY_MS = 15_000

export async function startRedisCluster(): Promise<StartedServer> {
  const command = findProgram('redis-server', [], 'apt-get install redis-server')
  const directory = makeDirectory('redis-cluster')
  try {
    // Its bus takes the port 10 000 above.
    let port = await findFreePort()
    while (port > 55_000) port = await findFreePort()
    const endpoint = { url: `redis://127.0.0.1:${String(port)}`, facts: {} }
    const running = await startProcess({
      command,
      args: [
        ...['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', ''],
        // A single node does not know its own address.
        ...['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
      ],
      directory,
      stopSignal: 'SIGTERM',
      readyMs: READY_MS,
      check: async (signal) => {
        await askRedis(endpoint, 'CLUSTER ADDSLOTSRANGE 0 16383', signal)
        const state = await askRedis(endpoint, 'SET perago-smoke 1', signal)
        if (state !== '+OK') throw new Error(`Redis answered ${state}`)
      },
    })
    return { ...endpoint, directory, close: running.close }
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}
