// Runs the pipeline of pipeline.yaml on an embedded lakeFS and the embedded engine in this process, causes failures, prints
// what each fence decides, and takes the last phase back.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { branchName, createLakefsClient, createRepository, openLakefsRepo, repositoryName } from 'perago'
import { loadPipelineText, openDataRollback, openEngine } from 'perago/engine'
import { openSqliteStore } from 'perago/stores/sqlite'
import { registerModule, startEmbeddedLakefs } from 'perago/testing'
import { openSkippingClock } from './demo/clock.mjs'
import { say, showHistory } from './demo/printing.mjs'
import {
  foreignCommit,
  killedWorker,
  quietDay,
  rolledBackPhase,
  secondTry,
  staleAttempt,
} from './demo/scenes.mjs'

const MAIN = branchName('main')
const directory = await mkdtemp(join(tmpdir(), 'orders-etl-'))
const module = fileURLToPath(new URL('tasks.ts', import.meta.url))
const lakefs = await startEmbeddedLakefs({ dataDir: join(directory, 'lakefs') })
const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
const clock = openSkippingClock()
const store = openSqliteStore({ file: join(directory, 'engine.db') })
const data = openDataRollback({ repoOf: (repository) => openLakefsRepo(client, repository) })
// Its own lease outlives every minute that is skipped: nobody else runs these executions.
const engine = await openEngine({ store, clock, checkpoints: { data }, leaseMs: 60 * 60_000 })
try {
  const repository = repositoryName('orders')
  await createRepository(client, { repository, storageNamespace: `local://${repository}` })
  const repo = openLakefsRepo(client, repository)
  const { queue, control } = engine
  await registerModule(control, module)
  const pipeline = new URL('pipeline.yaml', import.meta.url)
  await control.registerGraph(loadPipelineText(await readFile(pipeline, 'utf8'), 'pipeline.yaml').graph)
  const world = { module, lakefs, repo, repository, branch: MAIN, queue, control, clock, directory }
  say(`A lakeFS-compatible server at ${lakefs.url}, a repository "${repository}", an engine in this process.`)

  await quietDay(world)
  const [before] = await showHistory(repo, MAIN, 'The branch before the trouble')

  const troubled = await killedWorker(world)
  await staleAttempt(world, troubled)
  const foreign = await foreignCommit(world, troubled)
  const done = await secondTry(world)

  const commits = await showHistory(repo, MAIN, 'The branch after the trouble', { since: before.ref })
  // Newest first: the result of four publications, one killed worker, one late worker and one commit by hand.
  const made = commits.map(({ ref, metadata }) => (ref === foreign.ref ? 'Anna' : metadata['publish.task']))
  if (made.join() !== 'aggregate,Anna,validate,ingest')
    throw new Error(`the history is wrong: ${made.join()}`)
  say('\nEvery task published once, and nobody’s commit was overwritten.')

  await rolledBackPhase(world, done)
  const [head] = await showHistory(repo, MAIN, 'The branch after the rollback', { since: before.ref })
  if (head.ref !== foreign.ref) throw new Error(`the rollback is wrong: ${head.ref}`)
} finally {
  await engine.close()
  await store.close()
  await client.close()
  await lakefs.close()
  await rm(directory, { recursive: true })
}
