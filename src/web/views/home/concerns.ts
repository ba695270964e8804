/** What needs a person now, from everything that can be asked. */

import { get, readHealth, type Schemas } from '../../api.ts'
import { readReason } from '../../parts/reason.ts'
import { showsRecoveries, toRecovery } from '../../parts/recovery.tsx'
import { addressOf } from '../../route.ts'

export interface Concern {
  readonly key: string
  readonly kind: 'bad' | 'warn'
  readonly what: string
  readonly why: string
  readonly code?: string | undefined
  readonly next?: string | undefined
  readonly at?: string | undefined
  /** Where it can be looked at. */
  readonly to?: string | undefined
}

const FAILED_SHOWN = 30
const DEAD_SHOWN = 100
const RECENT_MS = 86_400_000

export async function loadConcerns(
  shows: readonly string[],
  signal: AbortSignal,
): Promise<readonly Concern[]> {
  const sources: [string, string, (signal: AbortSignal) => Promise<readonly Concern[]>][] = [
    ['executions', 'the health of this server', health],
    ['examination', 'the examination', examination],
    ['workflows', 'the runs', failedRuns],
    ['executions', 'the executions', failedExecutions],
    ['workflows', 'the queues', queues],
    ['workers', 'the workers', workers],
    ['executions', 'the webhooks', webhooks],
  ]
  const asked = sources.filter(([needs]) => shows.includes(needs))
  const found = await Promise.allSettled(asked.map(([, , load]) => load(signal)))
  return unique(
    found.flatMap((each, index): readonly Concern[] =>
      each.status === 'fulfilled' ? each.value : [notAsked(asked[index]?.[1] ?? '', each.reason)],
    ),
  )
}

function notAsked(what: string, reason: unknown): Concern {
  const why = reason instanceof Error ? reason.message : 'no reason was given'
  return { key: `not-asked-${what}`, kind: 'warn', what: `Could not read ${what}`, why }
}

/** A run of the engine is an execution as well. */
function unique(concerns: readonly Concern[]): readonly Concern[] {
  const first = concerns.filter(({ key }, index) => concerns.findIndex((each) => each.key === key) === index)
  return first.sort(
    (a, b) => Number(b.kind === 'bad') - Number(a.kind === 'bad') || (b.at ?? '').localeCompare(a.at ?? ''),
  )
}

async function health(signal: AbortSignal): Promise<readonly Concern[]> {
  const { problems } = await readHealth(signal)
  return problems.map((why) => ({ key: `health-${why}`, kind: 'bad', what: 'This server', why }))
}

async function examination(signal: AbortSignal): Promise<readonly Concern[]> {
  const { checks } = await get('/examination', { signal })
  return checks
    .filter(({ state }) => state !== 'ok')
    .map(({ name, state, text, next }) => ({
      ...{ key: `check-${name}`, kind: state === 'fail' ? 'bad' : 'warn', what: name, why: text, next },
      to: addressOfCheck(name),
    }))
}

/** `branch lake/main` leads to what can be done about it; the rest to the operations. */
function addressOfCheck(name: string): string {
  const [, repository, branch] = /^branch ([^/]+)\/(.+)$/.exec(name) ?? []
  return repository === undefined || branch === undefined
    ? addressOf(['operations'])
    : showsRecoveries()
      ? toRecovery({ repository, branch })
      : addressOf(['data', repository, 'branches', branch])
}

async function failedRuns(signal: AbortSignal): Promise<readonly Concern[]> {
  const { workflows } = await get('/workflows', {
    query: { status: ['FAILED', 'TIMED_OUT'], limit: FAILED_SHOWN },
    signal,
  })
  return workflows.filter(({ ended_at, started_at }) => isRecent(ended_at ?? started_at)).map(ofRun)
}

function ofRun({ id, name, status, reason, ended_at }: Schemas['Workflow']): Concern {
  const said = status === 'TIMED_OUT' ? 'timed out' : 'failed'
  const { what: why, code, next } = readReason(reason ?? '')
  return {
    ...{ key: `run-${id}`, kind: 'bad', what: `${name} ${said}`, why, code, next, at: ended_at },
    to: addressOf(['runs', id]),
  }
}

async function failedExecutions(signal: AbortSignal): Promise<readonly Concern[]> {
  const { executions } = await get('/executions', {
    query: { status: ['FAILED'], limit: FAILED_SHOWN },
    signal,
  })
  return executions
    .filter(({ updated_at }) => isRecent(updated_at))
    .map(({ execution_id, name, updated_at }) => ({
      ...{ key: `run-${execution_id}`, kind: 'bad', what: `${name} failed`, why: '', at: updated_at },
      to: addressOf(['executions', execution_id]),
    }))
}

async function queues(signal: AbortSignal): Promise<readonly Concern[]> {
  const { pollers } = await get('/pollers', { signal })
  return pollers
    .filter(({ nobody_polls }) => nobody_polls)
    .map(({ task_type, domain, waiting }) => ({
      key: `queue-${task_type}-${domain ?? ''}`,
      kind: 'bad',
      what: `Nobody asks for ${task_type}${domain === undefined ? '' : ` in ${domain}`}`,
      why: `${String(waiting)} ${waiting === 1 ? 'task waits' : 'tasks wait'} for a worker.`,
      next: 'Start a worker that has this task: perago start FILE.',
      to: toSection('queues'),
    }))
}

/** Those that hang, and those that ended without a farewell on this day. */
async function workers(signal: AbortSignal): Promise<readonly Concern[]> {
  const { workers: all } = await get('/workers', { signal })
  return all
    .filter(({ state, written_at: at }) => state === 'silent' || (state === 'gone' && isRecent(at)))
    .map(({ worker_id, index, pid, state, attempts, written_at: at }) => ({
      ...{ key: `worker-${worker_id}`, kind: state === 'silent' ? 'bad' : 'warn', at },
      what: `Worker ${String(index)} is ${state}`,
      why: `${WORKER_SIGNS[state === 'silent' ? 'silent' : 'gone'](pid)}${sayOpen(attempts.length)}`,
      next:
        state === 'silent'
          ? 'See its log and its disk; end the process if it hangs: its attempts are given to others.'
          : 'See its log for why. If no other worker has taken its place, start one: perago start FILE.',
      to: toSection('workers'),
    }))
}

const WORKER_SIGNS = {
  silent: (pid: number) =>
    `Process ${String(pid)} has written nothing since: it hangs, or cannot write its disk.`,
  gone: (pid: number) => `Process ${String(pid)} has ended without a farewell.`,
} as const

function sayOpen(attempts: number): string {
  if (attempts === 0) return ''
  return ` ${String(attempts)} ${attempts === 1 ? 'attempt was' : 'attempts were'} in progress.`
}

async function webhooks(signal: AbortSignal): Promise<readonly Concern[]> {
  const { webhooks: all } = await get('/webhooks', { signal })
  const looked = all.slice(0, FAILED_SHOWN)
  const dead = await Promise.all(
    looked.map(({ id }) =>
      get('/webhooks/{webhook_id}/dead-deliveries', {
        path: { webhook_id: id },
        query: { limit: DEAD_SHOWN },
        signal,
      }),
    ),
  )
  return looked.flatMap(({ id, url, overflow }, index): readonly Concern[] => {
    const count = dead[index]?.deliveries.length ?? 0
    if (count === 0 && overflow === undefined) return []
    const why = overflow?.problem ?? sayGivenUp(count, count === DEAD_SHOWN)
    const next = 'See what the receiver answers, then send them again.'
    return [
      { key: `webhook-${id}`, kind: 'warn', what: `Webhook ${url}`, why, next, to: toSection('webhooks') },
    ]
  })
}

function sayGivenUp(count: number, isMore: boolean): string {
  if (count === 1) return '1 delivery was given up.'
  return `${String(count)}${isMore ? ' or more' : ''} deliveries were given up.`
}

/** Of the operations. */
function toSection(at: 'workers' | 'queues' | 'webhooks'): string {
  return addressOf(['operations'], { at })
}

function isRecent(at: string | undefined): boolean {
  return at === undefined || Date.now() - Date.parse(at) < RECENT_MS
}
