// A fuzzer that knows nothing but the contract, against `perago serve` as it is shipped.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openCore } from '../../src/core/life-cycle/core.ts'
import type { Store } from '../../src/core/ports.ts'
import { openRecordStore } from '../../src/core/records/record-store.ts'
import { DeliveryStore } from '../../src/webhooks/delivering/delivery-store.ts'
import { openSqliteStore } from '../../src/stores/sqlite/sqlite-store.ts'
import { WEBHOOKS, type WebhookRecord } from '../../src/webhooks/records.ts'
import { openProject, type Project, type Started } from '../support/cli/command.ts'
import { document } from '../support/doors/contract.ts'
import { giveUpDelivery } from '../support/doors/world.ts'
import { usePython } from '../support/servers/python.ts'
import { PROJECT_ROOT } from '../support/source-tree.ts'

const FUZZER = join(PROJECT_ROOT, 'test/support/fuzzer')
const SEED = '20260101'
const EXAMPLES = '12'
const CASES_MIN = 800
const OPERATIONS = Object.values(document.paths).flatMap((methods) => Object.keys(methods)).length
/** Far more than it takes, by the number of its requests and their rate. */
const RUN_MS = 240_000
const TEST_MS = 260_000

const installed = usePython({ name: 'schemathesis', requirements: join(FUZZER, 'requirements.txt') })

let project: Project
let server: Started
let url: string
let token: string

beforeAll(async () => {
  project = await openProject()
  const { stdout } = await project.run(['token', 'create', '--name', 'fuzzer', '--role', 'operator'])
  token = stdout.trim()
  const store = openSqliteStore({ file: join(project.directory, '.perago/core/store.db') })
  await fill(store)
  await store.close()
  server = project.start(['serve', '--engine', '--port', '0'])
  url = (await server.firstLine).replace('ready ', '')
})
afterAll(() => project.close())

/** The executions that the contract's examples name, one that is over, and a webhook with dead deliveries. */
async function fill(store: Store): Promise<void> {
  const core = openCore({ store })
  for (const id of ['exec_12345', 'exec_over']) {
    const execution = await core.startExecution({ id, name: 'etl', inputs: { day: '2025-01-01' } })
    const source = { entityType: 'external', entityId: 'approval' } as const
    await execution.events.publish({ type: 'external.approval.approved', source })
    if (id === 'exec_over') await execution.finish({ status: 'completed' })
  }
  // Some other instance delivers, so that nothing of what the fuzzer makes up is ever called.
  const value = new TextEncoder().encode('another instance')
  await store.commit({ operations: [{ do: 'put', key: 'leases:webhooks', value, ttlMs: 3_600_000 }] })
  // The first of the list, so that the fuzzer finds it there.
  const id = 'wh_------------'
  await openRecordStore<WebhookRecord>(store, WEBHOOKS).add(id, {
    id,
    url: 'https://example.com/',
    types: ['a.b'],
    secret: 'x'.repeat(43),
    retry: { attempts: 1, firstDelayMs: 0 },
    createdAt: new Date().toISOString(),
  })
  const deliveries = new DeliveryStore(store)
  for (let at = 0; at < 20; at++) await giveUpDelivery({ store, deliveries }, id, `evt_${String(at)}`)
}

/** Of all paths. */
const PARTS = [
  'executions(/[^/]+)?$',
  'executions/[^/]+/(pause|resume|cancel|retry|units|wait)',
  'executions/[^/]+/(rollback|checkpoints|graph)',
  'executions/[^/]+/(events|variables|follow)',
  '(pipelines|schedules)',
  '(repositories|session)',
  '(workflows|pollers|examination|workers|store)',
  '(?!executions|pipelines|schedules|repositories|session|workflows|pollers|examination|workers|store)',
]

interface Run {
  readonly code: number | null
  readonly said: string
}

function fuzz(python: string, ...options: readonly string[]): Promise<Run> {
  const program = ['-m', 'schemathesis.cli', '--config-file', join(FUZZER, 'schemathesis.toml'), '--no-color']
  const shared = ['--header', `Authorization: Bearer ${token}`, '--seed', SEED, '--continue-on-failure']
  const child = spawn(
    python,
    [
      ...program,
      'run',
      `${url}/openapi.json`,
      ...shared,
      '--generation-database',
      'none',
      '--warnings',
      'off',
      ...options,
    ],
    {
      cwd: project.directory,
      env: {
        PATH: process.env.PATH,
        PERAGO_TEST_MARK: process.env.PERAGO_TEST_MARK,
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONHASHSEED: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS,
      killSignal: 'SIGKILL',
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-50_000)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, said }))
  })
}

function countOf(said: string, pattern: RegExp): number {
  return Number(pattern.exec(said)?.[1] ?? 0)
}

test(
  'DO-30 a fuzzer finds no answer outside the contract, and none that the contract forbids',
  async (context) => {
    const { python } = installed(context)
    // Missing tokens are tested in another run, because an address with many failures is slowed down.
    const { code, said } = await fuzz(python, '--max-examples', EXAMPLES, '--exclude-checks', 'ignored_auth')
    expect(said).toContain('No issues found')
    expect(code).toBe(0)
    // It leaves out the route that it has the contract from.
    expect(countOf(said, /Tested: (\d+)/)).toBe(OPERATIONS - 1)
    expect(countOf(said, /(\d+) generated/)).toBeGreaterThan(CASES_MIN)
    expect(server.stderr()).not.toContain('mistake')
  },
  TEST_MS,
)

test(
  'DO-30 DO-01 a fuzzer without a token, or with an invented one, is refused everywhere',
  async (context) => {
    const { python } = installed(context)
    // In parts, each on a server of its own: an address with many failures is slowed down.
    let tested = 0
    for (const part of PARTS) {
      const other = project.start(['serve', '--engine', '--port', '0'])
      url = (await other.firstLine).replace('ready ', '')
      const { code, said } = await fuzz(
        python,
        ...['--include-path-regex', `^/${part}`, '--checks', 'ignored_auth'],
        ...['--max-examples', '1', '--phases', 'fuzzing', '--mode', 'positive'],
      )
      expect(said).toContain('No issues found')
      expect(code).toBe(0)
      tested += countOf(said, /Tested: (\d+)/)
    }
    expect(tested).toBeGreaterThanOrEqual(OPERATIONS - 1)
  },
  TEST_MS,
)
