// `perago dev` as a user starts it, over a lakeFS behind a front that can stop a worker at the worst moment, with a pipeline of three
// phases.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, request as forward, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { branchName, repositoryName } from '../../../src/base/ids.ts'
import { startEmbeddedLakefs } from '../../../src/embedded/lakefs/server.ts'
import { createRepository } from '../../../src/lakefs/administration.ts'
import { createLakefsClient } from '../../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../../src/lakefs/versioned-repo.ts'
import type { VersionedRepo } from '../../../src/publication/ports.ts'
import { openProject } from '../cli/command.ts'

export const MAIN = branchName('main')
const READY_MS = 60_000
const STATES: readonly unknown[] = ['RUNNING', 'PAUSED', 'COMPLETED', 'FAILED', 'TIMED_OUT', 'TERMINATED']

const TASKS = `import { defineWorkspaceTask } from 'perago'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'

const controls = {
  retry: { delaySeconds: 0, jitterMs: 0 },
  timeout: { responseSeconds: 3 },
  publishBudget: { publishSeconds: 1, completionSeconds: 0.2, heartbeatSeconds: 0.5, shutdownGraceSeconds: 0.1 },
}
const step = (name, body) =>
  defineWorkspaceTask({
    name,
    owner: 'data@example.org',
    params: z.object({ day: z.string(), gate: z.string().optional() }),
    result: z.object({ rows: z.number() }),
    workspace: {},
    controls,
    body,
  })

export const load = step('shop.load', async ({ workspace, params, log }) => {
  log.info('loading <b>' + params.day + '</b>')
  while (params.gate !== undefined && !existsSync(params.gate)) await wait(20)
  const rows = [['id', 'product', 'price'], [1, 'apples', 3], [2, 'pears', params.day === '2026-01-16' ? 5 : 4]]
  await writeFile(workspace.path('orders.csv'), rows.map((row) => row.join(',')).join('\\n') + '\\n')
  return { rows: 2 }
})
export const check = step('shop.check', async ({ workspace }) => {
  const text = await readFile(workspace.path('orders.csv'), 'utf8')
  await writeFile(workspace.path('report.json'), JSON.stringify({ valid: true, lines: text.trim().split('\\n').length }))
  return { rows: 2 }
})
export const total = step('shop.total', async ({ workspace, params }) => {
  if (params.day === 'closed') throw new Error('the shop was closed on this day')
  if (params.day === 'never') throw new Error('there is no such day <script>window.pwned = 1</script>')
  await writeFile(workspace.path('total.txt'), 'total of ' + params.day + '\\n')
  return { rows: 1 }
})
`

const PIPELINE = `name: shop.daily
version: 1
owner: data@example.org
input: { workspace: {}, day: {}, gate: {} }
units:
  load:
    task: shop.load
    phase: load
    workspace: \${workflow.input.workspace}
    params: { day: '\${workflow.input.day}', gate: '\${workflow.input.gate}' }
  check:
    task: shop.check
    phase: check
    workspace: \${load.output.workspace}
    params: { day: '\${workflow.input.day}' }
  total:
    task: shop.total
    phase: report
    workspace: \${check.output.workspace}
    params: { day: '\${workflow.input.day}' }
`

export interface PageWorld {
  /** With the key that logs in. */
  readonly pageUrl: string
  /** Of the engine. */
  readonly url: string
  readonly repo: VersionedRepo
  /** A file in the directory of the project. */
  readonly at: (name: string) => string
  readonly write: (name: string, text: string) => Promise<void>
  /** Starts the pipeline from the head of `main`; resolves with its id. */
  readonly start: (day: string, gate?: string) => Promise<string>
  /** Resolves with the state in which it ended. */
  readonly ended: (id: string) => Promise<string>
  /** The next merge into `main` takes effect, and the worker that asked for it does not live to hear of it. */
  readonly killAtMerge: () => void
  readonly killWorker: () => void
}

export async function openPageWorld(): Promise<PageWorld> {
  const lakefs = await startEmbeddedLakefs({})
  onTestFinished(() => lakefs.close())
  const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
  onTestFinished(() => client.close())
  const repository = repositoryName('shop')
  await createRepository(client, { repository, storageNamespace: 'local://shop', defaultBranch: MAIN })
  const repo = openLakefsRepo(client, repository)
  let isDeadly = false
  const front = await openFront(lakefs.url, ({ method = '', url = '' }) => {
    if (!isDeadly || method !== 'POST' || !/\/refs\/[^/]+\/merge\/main$/.test(url)) return
    isDeadly = false
    killWorker()
  })
  const project = await openProject()
  onTestFinished(() => project.close())
  await project.write('tasks.mjs', TASKS)
  await project.write('daily.yaml', PIPELINE)
  const environment = {
    LAKEFS_ENDPOINT: front.url,
    LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
  }
  const args = ['dev', 'tasks.mjs', 'daily.yaml', '--no-reload']
  const dev = project.start(args, environment)
  const killWorker = (): void => {
    for (const pid of workersOf(dev.child.pid ?? 0)) process.kill(pid, 'SIGKILL')
  }
  await until('perago dev is ready', () => dev.stdout().includes('metrics'), dev.stderr)
  onTestFinished(async () => {
    dev.child.kill('SIGTERM')
    await dev.ended
  })
  const [, url = ''] = /^ready (\S+)\/api$/m.exec(dev.stdout()) ?? []
  const [, pageUrl = ''] = /page\s+(\S+)/.exec(dev.stdout()) ?? []
  return {
    ...{ url, pageUrl, repo, killWorker, write: project.write.bind(project) },
    at: (name) => `${project.directory}/${name}`,
    killAtMerge: () => {
      isDeadly = true
    },
    async start(day, gate) {
      const head = await repo.readBranch(MAIN)
      const workspace = { repository: 'shop', branch: 'main', refType: 'commit', ref: head?.head }
      const response = await fetch(`${url}/api/workflow`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          name: 'shop.daily',
          version: 1,
          input: { workspace, day, gate: gate ?? null },
        }),
      })
      if (!response.ok) throw new Error(await response.text())
      return response.text()
    },
    async ended(id) {
      let state = ''
      await until(`the run ${id} has ended`, async () => {
        const view = (await (await fetch(`${url}/api/workflow/${id}`)).json()) as { readonly status: string }
        state = view.status
        if (!STATES.includes(state)) throw new Error(JSON.stringify(view))
        return state !== 'RUNNING' && state !== 'PAUSED'
      })
      return state
    },
  }
}

/** Passes everything on; before an answer is passed back, `onAnswer` is told of the request. */
async function openFront(
  target: string,
  onAnswer: (request: IncomingMessage) => void,
): Promise<{ readonly url: string }> {
  const server = createServer((request, response) => {
    const { method, url = '/', headers } = request
    const onward = forward(new URL(url, target), { method, headers }, (answer) => {
      onAnswer(request)
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` }
}

/** Its worker processes: those that it started. */
function workersOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    const [, rest = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${String(pid)}/stat`, 'utf8')) ?? []
    return Number(rest.split(' ')[1])
  } catch {
    return undefined
  }
}

export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  said: () => string = () => '',
): Promise<void> {
  for (const end = Date.now() + READY_MS; Date.now() < end;) {
    if (await holds()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${what}: not within ${String(READY_MS)} ms. ${said()}`)
}
