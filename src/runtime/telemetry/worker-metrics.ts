/** A worker's events as metrics for Prometheus. */

import { errorKindOf, isPeragoError } from '../../base/errors.ts'
import type { WorkerEvent } from '../../worker/events.ts'
import { shareOf } from '../../worker/results/describe-progress.ts'
import type { WorkerStatus } from '../../worker/worker.ts'
import { Counter, Gauge, Histogram, Registry } from './prometheus.ts'

interface RequestNotice {
  readonly operation: string
  /** `undefined` if there was no response. */
  readonly status: number | undefined
  readonly durationMs: number
}

export type WorkerMetrics = ReturnType<typeof openWorkerMetrics>

/** In seconds: from a request on loopback to a task of an hour. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 3600]

export function openWorkerMetrics(status: () => WorkerStatus | undefined) {
  const registry = new Registry()
  const registers = [registry]
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name: `perago_worker_${name}`, help, labelNames, registers })
  const seconds = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Histogram({ name: `perago_worker_${name}`, help, labelNames, buckets: BUCKETS, registers })

  const polls = counter('polls_total', 'Polls, by what they brought.', ['task', 'outcome'])
  const pollSeconds = seconds('poll_seconds', 'How long polls took, waiting included.', ['task'])
  const attempts = counter('attempts_total', 'Attempts that ended, by what the queue was told.', [
    'task',
    'status',
    'delivery',
    'code',
  ])
  const attemptSeconds = seconds(
    'attempt_seconds',
    'How long attempts took, delivery and clean-up included.',
    ['task'],
  )
  const stepSeconds = seconds('step_seconds', 'How long each step of an attempt took.', [
    'task',
    'step',
    'outcome',
  ])
  const layOuts = counter(
    'lay_outs_total',
    'Workspaces that were laid out, or taken over from the task before.',
    ['task', 'origin'],
  )
  const layOutFiles = counter('lay_out_files_total', 'Files of workspaces, by where they came from.', [
    'task',
    'origin',
  ])
  const layOutBytes = counter('lay_out_bytes_total', 'Bytes of workspaces, by where they came from.', [
    'task',
    'origin',
  ])
  const publications = counter(
    'publications_total',
    'Publications, by what was done to the branch and the strength of the fence.',
    ['task', 'action', 'strength'],
  )
  const leases = counter('leases_lost_total', 'Leases lost while an attempt ran.', ['task', 'code'])
  // Renewals are not counted: they are made by another thread.
  const requests = counter('requests_total', 'Requests made, renewals of leases left out.', [
    'side',
    'operation',
    'status',
  ])
  const requestSeconds = seconds('request_seconds', 'How long requests took until the answer.', [
    'side',
    'operation',
  ])
  const progressReports = counter('progress_reports_total', 'Times that bodies said how far they are.', [
    'task',
  ])
  /** By task, then by attempt. */
  const shares = new Map<string, Map<string, number>>()
  new Gauge({
    name: 'perago_worker_progress_ratio',
    help: 'How far the body is that has come least far of those that run and said so, from 0 to 1.',
    labelNames: ['task'],
    registers,
    collect() {
      this.reset()
      for (const [task, running] of shares) this.set({ task }, Math.min(...running.values()))
    },
  })
  const noteProgress = (task: string, attempt: string, share: number | undefined): void => {
    const running = shares.get(task) ?? new Map<string, number>()
    if (share === undefined) running.delete(attempt)
    else running.set(attempt, share)
    if (running.size === 0) shares.delete(task)
    else shares.set(task, running)
  }
  const shared = counter(
    'branch_shared_total',
    'Attempts whose branch another workflow that had not ended may write, too.',
    ['task'],
  )
  const outbox = new Gauge({
    name: 'perago_worker_outbox_waiting',
    help: 'Results found undelivered when the outbox was last looked at.',
    registers,
  })
  const outage = new Gauge({
    name: 'perago_worker_outage',
    help: '1 while a server that tasks need is away, or this machine has a fault such as a full disk.',
    labelNames: ['what'],
    registers,
  })
  for (const what of ['lakefs', 'object-store', 'node']) outage.set({ what }, 0)
  const outboxOldest = new Gauge({
    name: 'perago_worker_outbox_oldest_seconds',
    help: 'Age of the oldest of these results; 0 without any.',
    registers,
  })
  const stagingRemoved = counter(
    'staging_removed_total',
    'Staging branches that ended attempts had left behind, and that were removed.',
    ['repository'],
  )
  const stagingKept = new Gauge({
    name: 'perago_worker_staging_kept',
    help: 'Staging branches that stayed when they were last looked at: in use, evidence, or not known to be over.',
    labelNames: ['repository'],
    registers,
  })
  new Gauge({
    name: 'perago_worker_slots',
    help: 'Places for attempts, and how many are taken.',
    labelNames: ['state'],
    registers,
    collect() {
      const slots = status()?.slots
      this.set({ state: 'limit' }, slots?.limit ?? 0)
      this.set({ state: 'taken' }, slots?.taken ?? 0)
    },
  })

  const countLayOut = (task: string, details: Readonly<Record<string, unknown>>): void => {
    const [files, bytes] = [Number(details['files']), Number(details['bytes'])]
    if (details['isWarm'] === true) {
      layOuts.inc({ task, origin: 'warm' })
      layOutFiles.inc({ task, origin: 'warm' }, files)
      layOutBytes.inc({ task, origin: 'warm' }, bytes)
      return
    }
    const [cachedFiles, cachedBytes] = [Number(details['cachedFiles']), Number(details['cachedBytes'])]
    layOuts.inc({ task, origin: 'anew' })
    layOutFiles.inc({ task, origin: 'cache' }, cachedFiles)
    layOutFiles.inc({ task, origin: 'repository' }, files - cachedFiles)
    layOutBytes.inc({ task, origin: 'cache' }, cachedBytes)
    layOutBytes.inc({ task, origin: 'repository' }, bytes - cachedBytes)
  }
  const observe = (event: WorkerEvent): void => {
    switch (event.kind) {
      case 'poll': {
        const outcome =
          event.error === undefined ? (event.claimed > 0 ? 'task' : 'empty') : errorKindOf(event.error)
        polls.inc({ task: event.taskType, outcome })
        pollSeconds.observe({ task: event.taskType }, event.durationMs / 1_000)
        break
      }
      case 'step': {
        const { step, outcome, durationMs } = event.event
        stepSeconds.observe({ task: event.attempt.taskName, step, outcome }, durationMs / 1_000)
        if (step === 'lay-out' && outcome === 'done') countLayOut(event.attempt.taskName, event.event.details)
        break
      }
      case 'lease-lost': {
        const code = isPeragoError(event.error) ? event.error.code : 'unknown'
        leases.inc({ task: event.attempt.taskName, code })
        break
      }
      case 'attempt-ended': {
        const { status: told, delivery, errorCode, action, strength = 'soft', durationMs } = event.summary
        const task = event.attempt.taskName
        attempts.inc({ task, status: told, delivery, code: errorCode ?? '' })
        attemptSeconds.observe({ task }, durationMs / 1_000)
        if (action !== undefined) publications.inc({ task, action, strength })
        noteProgress(task, event.attempt.taskId, undefined)
        break
      }
      case 'staging-looked':
        stagingRemoved.inc({ repository: event.repository }, event.removed)
        stagingKept.set({ repository: event.repository }, event.kept)
        break
      case 'branch-shared':
        shared.inc({ task: event.attempt.taskName })
        break
      case 'outbox':
        outbox.set(event.waiting)
        outboxOldest.set((event.oldestMs ?? 0) / 1_000)
        break
      case 'outage-began':
        outage.set({ what: event.what }, 1)
        break
      case 'outage-ended':
        outage.set({ what: event.what }, 0)
        break
      case 'progress':
        progressReports.inc({ task: event.attempt.taskName })
        noteProgress(event.attempt.taskName, event.attempt.taskId, shareOf([event.done, event.total]))
        break
      case 'attempt-started':
        break
    }
  }
  return {
    observe,
    /** Counts the requests to one server. */
    requestsOf:
      (side: 'lakefs' | 'conductor') =>
      ({ operation, status, durationMs }: RequestNotice): void => {
        requests.inc({ side, operation, status: status === undefined ? 'none' : String(status) })
        requestSeconds.observe({ side, operation }, durationMs / 1_000)
      },
    contentType: registry.contentType,
    /** The metrics in Prometheus' text format. */
    render: () => registry.metrics(),
  }
}
