// Tasks that worker processes run for a real Conductor; they load the package as it was built.
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { defineWorkspaceTask, requireFile } from 'perago'
import { z } from 'zod'

const LOOK_MS = 20

const params = z.object({
  /** `{attempt}` is replaced. */
  file: z.string().default('out.txt'),
  text: z.string().default('text'),
  /** Grows by a line with each run. */
  runs: z.string().optional(),
  /** Written when the body runs. */
  begun: z.string().optional(),
  /** The first attempt waits for this file. */
  go: z.string().optional(),
  /** Written, with the reason, when the body is aborted. */
  aborted: z.string().optional(),
  /** Written when the body learns that the worker stops. */
  stopping: z.string().optional(),
  /** Changes nothing. */
  idle: z.boolean().default(false),
  resultBytes: z.number().default(0),
  /** Never yields while it waits. */
  spin: z.boolean().default(false),
})

/** Holds a budget that fits below the shortest lease of this module. */
const publishBudget = {
  publishSeconds: 2,
  completionSeconds: 1,
  heartbeatSeconds: 1,
  shutdownGraceSeconds: 1,
}

async function body({ workspace, params: told, attempt, signal, shutdown }) {
  const { text, runs, begun, go, aborted, stopping, idle, resultBytes, spin } = told
  const file = told.file.replace('{attempt}', String(attempt.retryCount))
  if (runs !== undefined) appendFileSync(runs, `${attempt.taskId}\n`)
  if (stopping !== undefined) shutdown.addEventListener('abort', () => writeFileSync(stopping, 'told'))
  if (!idle) writeFileSync(workspace.path(file), `${text} by attempt ${attempt.retryCount}`)
  if (begun !== undefined) writeFileSync(begun, String(process.pid))
  try {
    while (go !== undefined && attempt.retryCount === 0 && !existsSync(go))
      if (!spin) await wait(LOOK_MS, undefined, { signal })
  } catch (error) {
    if (aborted !== undefined) writeFileSync(aborted, String(signal.reason?.code))
    throw error
  }
  return { filler: 'x'.repeat(resultBytes) }
}

const declare = (name, timeout, further = {}) =>
  defineWorkspaceTask({
    owner: 'data@example.org',
    name,
    params,
    result: z.object({ filler: z.string() }),
    workspace: { prefix: 'data', ...further.workspace },
    controls: {
      retry: { delaySeconds: 0, jitterMs: 0 },
      timeout,
      publishBudget,
      ...further.controls,
    },
    ...further.more,
    body,
  })

/** For what has nothing to do with time. */
export const steady = declare('perago_it_steady', { responseSeconds: 60 })
export const guarded = declare(
  'perago_it_guarded',
  { responseSeconds: 60 },
  { workspace: { post: [requireFile('out.txt', { minBytes: 1 })] } },
)
export const reader = declare('perago_it_reader', { responseSeconds: 60 }, { workspace: { readOnly: true } })
/** For what waits until a lease has ended. */
export const brief = declare('perago_it_brief', { responseSeconds: 6 })
/** As `brief`, for a server that checks deadlines in time. */
export const quick = declare(
  'perago_it_quick',
  { responseSeconds: 3 },
  {
    controls: {
      publishBudget: {
        publishSeconds: 1,
        completionSeconds: 0.2,
        heartbeatSeconds: 0.5,
        shutdownGraceSeconds: 0.1,
      },
    },
  },
)
/** Runs in its own process. */
export const apart = declare('perago_it_apart', { responseSeconds: 60 }, { more: { runIn: 'process' } })
/** Keeps its lease while the server is away. */
export const patient = declare('perago_it_patient', { responseSeconds: 600 })
/** Times out although its lease is renewed. */
export const limited = declare('perago_it_limited', { responseSeconds: 20, runSeconds: 20 })
/** Stops when its workflow is paused. */
export const pausing = declare(
  'perago_it_pausing',
  { responseSeconds: 6 },
  { controls: { whilePaused: 'stop' } },
)
