import { arch } from 'node:os'
import { join } from 'node:path'
import { findFreePort, findProgram, makeDirectory, removeDirectory, startProcess } from './process.ts'
import type { ServerRecipe, StartedServer } from './real-server.ts'
import { askJson } from './http.ts'

const READY_MS = 30_000

export const ETCD: ServerRecipe = {
  kind: 'etcd',
  variable: 'PERAGO_TEST_ETCD_URL',
  readEnvironment: ({ PERAGO_TEST_ETCD_URL: url }) => (url ? { url, facts: {} } : undefined),
  check: async ({ url }, signal) => {
    const { body } = await askJson(`${url}/health`, { signal })
    if ((body as { health?: unknown }).health !== 'true')
      throw new Error(`etcd answered ${JSON.stringify(body)}`)
  },
  container: {
    image: 'quay.io/coreos/etcd:v3.5.21',
    port: 2379,
    environment: {
      ETCD_LISTEN_CLIENT_URLS: 'http://0.0.0.0:2379',
      ETCD_ADVERTISE_CLIENT_URLS: 'http://0.0.0.0:2379',
    },
    command: ['etcd'],
    endpointAt: (host, port) => ({ url: `http://${host}:${String(port)}`, facts: {} }),
  },
  start: startEtcd,
  startsAs: 'native',
  readyMs: READY_MS,
}

async function startEtcd(): Promise<StartedServer> {
  const command = findProgram('etcd', [], 'apt-get install etcd-server')
  const directory = makeDirectory('etcd')
  try {
    const [clients, peers] = [await findFreePort(), await findFreePort()]
    const url = `http://127.0.0.1:${String(clients)}`
    const peerUrl = `http://127.0.0.1:${String(peers)}`
    const running = await startProcess({
      command,
      args: [
        ...['--data-dir', join(directory, 'data'), '--name', 'only'],
        ...['--listen-client-urls', url, '--advertise-client-urls', url],
        ...['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
        ...['--initial-cluster', `only=${peerUrl}`],
      ],
      directory,
      // Debian's etcd refuses 64-bit ARM without this.
      environment: arch() === 'arm64' ? { ETCD_UNSUPPORTED_ARCH: 'arm64' } : {},
      stopSignal: 'SIGTERM',
      readyMs: READY_MS,
      check: (signal) => ETCD.check({ url, facts: {} }, signal),
    })
    return { url, facts: {}, directory, close: running.close }
  } catch (error) {
    removeDirectory(directory)
    throw error
  }
}
