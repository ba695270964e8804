// Runs the pipeline of tasks.ts on an embedded lakeFS and a task queue in this process, causes failures, and prints what
// each fence decides.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { branchName, createLakefsClient, createRepository, openLakefsRepo, repositoryName } from 'perago'
import { openTestQueue, registerModule, startEmbeddedLakefs } from 'perago/testing'
import { openSkippingClock } from './demo/clock.mjs'
import { say, showHistory } from './demo/printing.mjs'
import { foreignCommit, killedWorker, quietDay, secondTry, staleAttempt } from './demo/scenes.mjs'

const MAIN = branchName('main')
const directory = await mkdtemp(join(tmpdir(), 'orders-etl-'))
const module = fileURLToPath(new URL('tasks.ts', import.meta.url))
const lakefs = await startEmbeddedLakefs({ dataDir: join(directory, 'lakefs') })
const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
const clock = openSkippingClock()
const queue = openTestQueue({ clock })
try {
  const repository = repositoryName('orders')
  await createRepository(client, { repository, storageNamespace: `local://${repository}` })
  const repo = openLakefsRepo(client, repository)
  await registerModule(queue, module)
  const world = { module, lakefs, repo, repository, branch: MAIN, queue, clock, directory }
  say(`A lakeFS-compatible server at ${lakefs.url}, a repository "${repository}", a queue in this process.`)

  await quietDay(world)
  const [before] = await showHistory(repo, MAIN, 'The branch before the trouble')

  const troubled = await killedWorker(world)
  await staleAttempt(world, troubled)
  const foreign = await foreignCommit(world, troubled)
  await secondTry(world)

  const commits = await showHistory(repo, MAIN, 'The branch after the trouble', { since: before.ref })
  // Newest first: the result of four publications, one killed worker, one late worker and one commit by hand.
  const made = commits.map(({ ref, metadata }) => (ref === foreign.ref ? 'Anna' : metadata['publish.task']))
  if (made.join() !== 'aggregate,Anna,validate,ingest')
    throw new Error(`the history is wrong: ${made.join()}`)
  say('\nEvery task published once, and nobody’s commit was overwritten.')
} finally {
  await client.close()
  await lakefs.close()
  await rm(directory, { recursive: true })
}
