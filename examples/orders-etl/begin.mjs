// Prepares everything and starts the workflow of one day: waits for lakeFS and Conductor, creates the first user of a new
// lakeFS and the repository, registers tasks and workflow, starts `orders.daily` from the head of `main`.
//   node begin.mjs [DAY]
import { execFileSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { branchName, createLakefsClient, openLakefsRepo, repositoryName } from 'perago'

const READY_MS = 300_000
const PAUSE_MS = 1_000
const day = process.argv[2] ?? '2026-01-15'
const conductor = (process.env.CONDUCTOR_SERVER_URL ?? '').replace(/\/+$/, '')
const lakefs = (process.env.LAKEFS_ENDPOINT ?? '').replace(/\/+$/, '')

await answers(`${lakefs}/api/v1/healthcheck`)
await answers(`${conductor}/metadata/taskdefs`)
await makeFirstUser()
await import('./prepare.mjs')
const tasks = fileURLToPath(new URL('tasks.ts', import.meta.url))
execFileSync('perago', ['register', tasks, '--yes'], { stdio: ['ignore', 'inherit', 'inherit'] })

const client = createLakefsClient({
  endpoint: lakefs,
  accessKeyId: process.env.LAKEFS_ACCESS_KEY_ID,
  secretAccessKey: process.env.LAKEFS_SECRET_ACCESS_KEY,
})
const found = await openLakefsRepo(client, repositoryName('orders')).readBranch(branchName('main'))
await client.close()
const workspace = { repository: 'orders', branch: 'main', refType: 'commit', ref: found.head }
const answer = await fetch(`${conductor}/workflow`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'orders.daily', input: { workspace, day } }),
})
if (!answer.ok) throw new Error(`start orders.daily: ${answer.status} ${await answer.text()}`)
console.log(`started orders.daily for ${day} as ${await answer.text()}`)

/** lakeFS creates it only over a local database; here it gets the credentials that all containers share. */
async function makeFirstUser() {
  const url = `${lakefs}/api/v1/setup_lakefs`
  const { state } = await (await fetch(url)).json()
  if (state !== 'not_initialized') return
  const key = {
    access_key_id: process.env.LAKEFS_ACCESS_KEY_ID,
    secret_access_key: process.env.LAKEFS_SECRET_ACCESS_KEY,
  }
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', key }),
  })
  if (!answer.ok) throw new Error(`set lakeFS up: ${answer.status} ${await answer.text()}`)
  console.log('made the first user of lakeFS')
}

/** Waits until it responds as expected, or too much time has passed. */
async function answers(url) {
  const bound = AbortSignal.timeout(READY_MS)
  for (let last; !bound.aborted; await wait(PAUSE_MS)) {
    try {
      const { ok, status } = await fetch(url, { signal: bound })
      if (ok) return
      last = status
    } catch (error) {
      last = error.cause?.code ?? error.message
    }
    console.log(`waiting for ${url}: ${last}`)
  }
  throw new Error(`${url} did not answer within ${READY_MS / 1_000} s`)
}
