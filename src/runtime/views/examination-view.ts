/** What keeps work from being done, for those who look at a server: its store, lakeFS, Conductor and the queues. Changes nothing. */

import { systemClock, type Clock } from '../../base/clock.ts'
import { describeError } from '../../base/error-description.ts'
import { UnavailableError } from '../../base/errors.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { plainRedactor, type Redactor } from '../../base/redaction.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'
import { openLakefs } from '../connections/lakefs-connection.ts'
import { examineConductor } from '../examinations/conductor-examination.ts'
import { examineLakefs } from '../examinations/lakefs-examination.ts'
import { EXAMINATION_KEPT_MS, EXAMINATION_MAX_MS, EXAMINATION_QUEUES_MAX } from '../limits.ts'
import type { Pollers } from './pollers.ts'

export interface ServerCheck {
  /** What was looked at. */
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  readonly next?: string | undefined
}

export interface ServerExamination {
  readonly examinedAt: Date
  readonly checks: readonly ServerCheck[]
}

export interface ExaminationView {
  /** Whoever asks within some seconds is told the same. */
  examine(): Promise<ServerExamination>
}

export interface ExaminationParts {
  /** One sentence for each problem. */
  readonly examineHost: () => Promise<readonly string[]>
  /** Each is looked at where it is configured. */
  readonly configuration: Partial<Pick<PeragoConfiguration, 'lakefs' | 'conductor'>>
  readonly readPollers?: ((signal: AbortSignal) => Promise<Pollers>) | undefined
  readonly logger?: Logger
  readonly redactor?: Redactor
  readonly clock?: Clock
  readonly maxMs?: number
}

type Check = (signal: AbortSignal) => Promise<readonly ServerCheck[]>

export function openExaminationView(parts: ExaminationParts): ExaminationView {
  const { redactor = plainRedactor, clock = systemClock, maxMs = EXAMINATION_MAX_MS } = parts
  const failed = (name: string, error: unknown): ServerCheck => {
    const { message, next } = describeError(error, redactor)
    return { name, state: 'fail', text: message, next }
  }
  const checks: readonly (readonly [string, Check])[] = checksOf(parts)
  const examine = async (): Promise<ServerExamination> => {
    const signal = AbortSignal.timeout(maxMs)
    const found = await Promise.all(
      checks.map(([name, check]) =>
        Promise.race([check(signal), tooLong(name, signal)]).catch((error: unknown) => [failed(name, error)]),
      ),
    )
    return { examinedAt: clock.now(), checks: found.flat() }
  }
  let last: { readonly atMs: number; readonly found: Promise<ServerExamination> } | undefined
  return {
    examine() {
      const nowMs = clock.monotonicMs()
      if (last === undefined || nowMs - last.atMs > EXAMINATION_KEPT_MS)
        last = { atMs: nowMs, found: examine() }
      return last.found
    },
  }
}

function checksOf(parts: ExaminationParts): readonly (readonly [string, Check])[] {
  const { examineHost, configuration, readPollers, logger = silentLogger } = parts
  const { lakefs, conductor } = configuration
  const connection = { logger, retry: { maxAttempts: 1 } }
  const checks: (readonly [string, Check] | undefined)[] = [
    ['store', async () => describeHost(await examineHost())],
    lakefs?.endpoint === undefined
      ? undefined
      : [
          'lakeFS',
          async (signal) => {
            const client = openLakefs({ lakefs }, connection)
            try {
              return describeLakefs(await examineLakefs(client, { signal, fence: lakefs.fence }))
            } finally {
              await client.close()
            }
          },
        ],
    conductor?.serverUrl === undefined
      ? undefined
      : [
          'Conductor',
          async (signal) =>
            describeConductor(await examineConductor({ conductor }, { ...connection, signal })),
        ],
    readPollers && ['queues', async (signal) => describeQueues(await readPollers(signal))],
  ]
  return checks.filter((check) => check !== undefined)
}

function tooLong(name: string, signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = (): void =>
      reject(
        new UnavailableError('runtime/examination-too-long', `examine ${name}: it did not end in time`, {
          next: 'See that it answers.',
        }),
      )
    signal.addEventListener('abort', give, { once: true })
  })
}

function describeHost(problems: readonly string[]): readonly ServerCheck[] {
  return problems.length === 0
    ? [{ name: 'store', state: 'ok', text: 'it is read and written, and the work of this server goes on' }]
    : problems.map((text) => ({ name: 'store', state: 'fail', text }))
}

function describeLakefs(found: Awaited<ReturnType<typeof examineLakefs>>): readonly ServerCheck[] {
  const { endpoint, version, answeredInMs, transfers } = found
  const text = `${version} at ${endpoint}, answered in ${answeredInMs} ms`
  return [
    { name: 'lakeFS', state: 'ok', text: `${text}${transfers.presigned ? ', presigned transfers' : ''}` },
    ...(transfers.checksumVerified
      ? []
      : [
          {
            name: 'lakeFS downloads',
            state: 'warn',
            text: 'they are verified by their length only',
          } as const,
        ]),
  ]
}

function describeConductor(found: Awaited<ReturnType<typeof examineConductor>>): readonly ServerCheck[] {
  const { endpoint, version, isHealthy, answeredInMs, sharedBranches } = found
  const text = `${version} at ${endpoint}, answered in ${answeredInMs} ms`
  const shared = (sharedBranches ?? []).map(({ repository, branch, workflows }): ServerCheck => ({
    ...{ name: `branch ${repository}/${branch}`, state: 'warn' },
    text: `used by ${workflows.map(({ name, workflowId }) => `${name} ${workflowId}`).join(', ')}`,
    next: 'Only one may write it: wait for the others to end, or terminate them.',
  }))
  return [
    isHealthy
      ? { name: 'Conductor', state: 'ok', text }
      : {
          name: 'Conductor',
          state: 'warn',
          text: `${text}, and reports a problem`,
          next: 'Look into its log.',
        },
    ...shared,
  ]
}

function describeQueues({ pollers }: Pollers): readonly ServerCheck[] {
  const unpolled = pollers.filter(({ isUnpolled }) => isUnpolled)
  if (unpolled.length === 0)
    return [{ name: 'queues', state: 'ok', text: 'no task waits for a worker that does not come' }]
  return unpolled.slice(0, EXAMINATION_QUEUES_MAX).map(({ taskType, domain, waiting, polls }) => ({
    ...{ name: `queue ${domain === undefined ? '' : `${domain}:`}${taskType}`, state: 'warn' },
    text:
      `${waiting === 1 ? '1 task waits' : `${waiting} tasks wait`}, and ` +
      (polls.length === 0 ? 'no worker has ever asked for it' : 'no worker asks for it any more'),
    next: 'Start a worker: "perago start MODULE".',
  }))
}
