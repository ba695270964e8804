/** The workers of this machine and the store of this server, for those who look. */

import type { Hono } from 'hono'
import { defined } from '../../base/defined.ts'
import { MissingError } from '../../base/errors.ts'
import type { Host } from '../../runtime/host.ts'
import type { NotedPass, StorePlace } from '../../runtime/stores/store-report.ts'
import type { ShownWorker, WorkersView } from '../../runtime/views/workers-view.ts'
import { requireRight } from '../access/callers.ts'
import type { HttpEnvironment } from './environment.ts'
import { readQuery } from './read-request.ts'

export interface MachineRoutesParts {
  readonly workers: WorkersView | undefined
  readonly host: Pick<Host, 'describeStore'> | undefined
}

export function addMachineRoutes(app: Hono<HttpEnvironment>, { workers, host }: MachineRoutesParts): void {
  app.get('/workers', async (asked) => {
    const caller = asked.get('caller')
    requireRight(caller, 'examine the server')
    if (workers === undefined || caller.tenant !== undefined) {
      throw new MissingError('api/no-workers', 'list the workers: they are not shown', {
        next: 'Ask with a token of the default tenant, a server that was given the root of workers on its machine.',
      })
    }
    readQuery(asked.req.url, {})
    const { asOf, workers: found, isWhole } = await workers.read()
    return asked.json({ as_of: asOf.toISOString(), workers: found.map(showWorker), whole: isWhole })
  })
  app.get('/store', async (asked) => {
    const caller = asked.get('caller')
    requireRight(caller, 'examine the server')
    if (host === undefined || caller.tenant !== undefined) {
      throw new MissingError('api/no-store', 'describe the store: it is not shown', {
        next: 'Ask a "perago serve" or a "perago dev", with a token of the default tenant.',
      })
    }
    readQuery(asked.req.url, {})
    const { store, archive, swept, archived } = await host.describeStore()
    return asked.json({
      store: showPlace(store),
      ...defined({
        archive: archive && showPlace(archive),
        swept: swept && showPass(swept),
        archived: archived && showPass(archived),
      }),
    })
  })
}

function showPlace({ kind, bytes }: StorePlace) {
  return { kind, ...defined({ bytes }) }
}

function showPass({ at, done, failed }: NotedPass) {
  return { at: at.toISOString(), done, failed }
}

function showWorker(worker: ShownWorker) {
  const { index, pid, state, slots, files, outages } = worker
  return {
    ...{ index, pid, worker_id: worker.workerId, state, slots, outages },
    ...{ started_at: worker.startedAt, written_at: worker.writtenAt },
    polls: worker.polls.map(({ taskType, succeededAt, slots: limit, isHeld }) => ({
      ...{ task_type: taskType, slots: limit, held: isHeld },
      ...defined({ succeeded_at: succeededAt }),
    })),
    attempts: worker.attempts.map((attempt) => ({
      ...{ ...showAttempt(attempt), step: attempt.step, lease_ms: attempt.leaseMs },
      ...{ started_at: attempt.startedAt, renewed_at: attempt.renewedAt },
    })),
    files: {
      ...{ cached: files.cached, cached_bytes: files.cachedBytes },
      ...{ fetched: files.fetched, fetched_bytes: files.fetchedBytes },
      warm_directories: files.warmDirectories,
    },
    ended: worker.ended.map((ended) => ({
      ...{ ...showAttempt(ended), at: ended.at, outcome: ended.outcome, why: ended.why },
      ...defined({ code: ended.code }),
    })),
    ...defined({ oldest_result_at: worker.oldestResultAt }),
  }
}

function showAttempt(of: ShownWorker['attempts'][number] | ShownWorker['ended'][number]) {
  const { taskId, workflowId, taskType, retryCount } = of
  return { task_id: taskId, workflow_id: workflowId, task_type: taskType, attempt: retryCount }
}
