// Goal: what the embedded lakeFS acknowledged survives kill -9 at any moment, and nothing is stored partly.
// Method: eight clients load it, each on its own branch; after a random while it is killed, started again on the same
// directory and compared with what it had acknowledged. The one request per client that was under way may have
// happened wholly or not at all. PERAGO_KILLS and PERAGO_SEED set how often and replay the choices of a run; when
// the kill falls within a request is the machine's own.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/random.ts'
import { at, KillClient, RawServer, REPOSITORY } from '../support/kill-world.ts'
import { startLakefsProcess, TEST_ACCESS_KEY, TEST_SECRET_KEY } from '../support/lakefs-process.ts'

const KILLS = Number(process.env['PERAGO_KILLS'] ?? (process.env['CI'] === 'true' ? 200 : 20))
const SEED = Number(process.env['PERAGO_SEED'] ?? Date.now() % 1_000_000)
const CLIENTS = 8
const LOAD_MS_MAX = 300

test(
  `EK-01 kill -9 at any moment loses no acknowledged write and leaves none by half (${KILLS} kills, seed ${SEED})`,
  async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'perago-killed-'))
    const random = seededRandom(SEED)
    const clients = Array.from(
      { length: CLIENTS },
      (_, index) => new KillClient(`w${index}`, seededRandom(SEED + index + 1)),
    )
    try {
      await makeBranches(dataDir, clients)
      for (let round = 0; round < KILLS; round++) {
        const lakefs = await startLakefsProcess(dataDir)
        const server = new RawServer(lakefs.url, {
          accessKeyId: TEST_ACCESS_KEY,
          secretAccessKey: TEST_SECRET_KEY,
        })
        try {
          await Promise.all(clients.map((client) => client.verify(server)))
          const loads = Promise.all(clients.map((client) => client.load(server)))
          // A failing client must not wait until the kill is noticed.
          await Promise.race([
            loads,
            new Promise((resolve) => setTimeout(resolve, random.next() * LOAD_MS_MAX)),
          ])
          await lakefs.kill()
          await server.drop()
          await loads
        } finally {
          await lakefs.kill()
          await server.drop()
        }
      }
      const lakefs = await startLakefsProcess(dataDir)
      const server = new RawServer(lakefs.url, {
        accessKeyId: TEST_ACCESS_KEY,
        secretAccessKey: TEST_SECRET_KEY,
      })
      await Promise.all(clients.map((client) => client.verify(server)))
      await server.drop()
      expect(await lakefs.stop()).toBe(0)
      expect(await leftovers(dataDir)).toEqual([])
    } finally {
      await rm(dataDir, { recursive: true })
    }
    const sum = (of: (client: KillClient) => number): number =>
      clients.reduce((total, client) => total + of(client), 0)
    const settled = { done: sum(({ settled }) => settled.done), undone: sum(({ settled }) => settled.undone) }
    console.log(
      `kills ${KILLS}, acknowledged ${sum(({ acknowledged }) => acknowledged)}, open at a kill: ${settled.done} done, ${settled.undone} undone`,
    )
    // A run in which nothing was under way at any kill would have shown nothing.
    expect(settled.done + settled.undone).toBeGreaterThan(KILLS)
  },
  30 * 60_000,
)

async function makeBranches(dataDir: string, clients: readonly KillClient[]): Promise<void> {
  const lakefs = await startLakefsProcess(dataDir)
  const server = new RawServer(lakefs.url, { accessKeyId: TEST_ACCESS_KEY, secretAccessKey: TEST_SECRET_KEY })
  const made = await server.ask('POST', '/repositories', {
    name: REPOSITORY,
    storage_namespace: `local://${REPOSITORY}`,
  })
  expect(made.status).toBe(201)
  for (const { branch } of clients) {
    expect((await server.ask('POST', at('/branches'), { name: branch, source: 'main' })).status).toBe(201)
  }
  await server.drop()
  expect(await lakefs.stop()).toBe(0)
}

/** Temporary files that no start swept away. */
async function leftovers(dataDir: string): Promise<readonly string[]> {
  const files = await readdir(dataDir, { recursive: true })
  return files.filter((file) => /(^|\/)(tmp|incoming)\/.+/.test(file))
}
