/** Recoveries over HTTP: what became of a publication, and whether a history holds, is shown; what is done is what was shown. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { InvalidError, MissingError } from '../../base/errors.ts'
import { branchName, repositoryName } from '../../base/ids.ts'
import type { Json } from '../../base/json.ts'
import {
  RECOVERY_ACTIONS,
  type Examination,
  type Recovered,
  type RecoveryAction,
  type RecoveryTarget,
  type RecoveryView,
} from '../../runtime/views/recovery-view.ts'
import { requireRight, type Right } from '../access/callers.ts'
import { API_VERIFY_COMMITS, API_VERIFY_MAX_COMMITS } from '../limits.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { readJsonBody } from './read-body.ts'
import { once, readFields, readQuery, refName, wholeNumber } from './read-request.ts'
import { showVerification } from './show-verification.ts'

const TARGET = {
  branch: z.string().min(1).max(256).optional(),
  workflow_id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,128}$/, 'must be the id of a workflow')
    .optional(),
}
const VERIFICATION = {
  since: once(refName()),
  limit: once(wholeNumber({ least: 1, most: API_VERIFY_MAX_COMMITS })),
}
const PREVIEW = z.strictObject(TARGET)
const ACTIONS = Object.keys(RECOVERY_ACTIONS) as readonly RecoveryAction[]
const RECOVERY = z.strictObject({
  ...TARGET,
  digest: z.string().max(128),
  action: z.enum(ACTIONS),
  reason: z.string().min(1).max(1_024).optional(),
  result: z.unknown().optional(),
})

export function addRecoveryRoutes(app: Hono<HttpEnvironment>, view: RecoveryView | undefined): void {
  const open = (asked: Asked, right: Right): RecoveryView => {
    const caller = asked.get('caller')
    requireRight(caller, right)
    if (view !== undefined && caller.tenant === undefined) return view
    throw new MissingError('api/no-recoveries', `${right}: this server does not`, {
      next: 'Start it with a lakeFS, and ask with a token of the default tenant; or run "perago recover".',
    })
  }
  app.get('/repositories/:repository/branches/:branch/verification', async (asked) => {
    const shown = open(asked, 'look at recoveries')
    const { since, limit = API_VERIFY_COMMITS } = readQuery(asked.req.url, VERIFICATION)
    const repository = repositoryName(asked.req.param('repository'))
    const branch = branchName(asked.req.param('branch'))
    const found = await shown.verify({ repository, branch, since, limit }, asked.req.raw.signal)
    return asked.json(showVerification(found))
  })
  app.post('/repositories/:repository/recoveries/preview', async (asked) => {
    const shown = open(asked, 'look at recoveries')
    readQuery(asked.req.url, {})
    const body = readFields('the request', PREVIEW, await readJsonBody(asked.req.raw))
    const { digest, branches } = await shown.preview(targetOf(asked, body), asked.req.raw.signal)
    return asked.json({ digest, branches: branches.map(showExamined) })
  })
  app.post('/repositories/:repository/recoveries', async (asked) => {
    const shown = open(asked, 'recover publications')
    readQuery(asked.req.url, {})
    const body = readFields('the request', RECOVERY, await readJsonBody(asked.req.raw))
    const { digest, action, reason, result } = body
    const act = { digest, action, reason, result: result as Json | undefined }
    const recovered = await shown.recover(targetOf(asked, body), act)
    return asked.json({ branches: recovered.map(showRecovered) })
  })
}

function targetOf(
  asked: Asked,
  { branch, workflow_id: workflowId }: z.output<typeof PREVIEW>,
): RecoveryTarget {
  const repository = repositoryName(asked.req.param('repository') ?? '')
  if (branch !== undefined && workflowId === undefined) return { repository, branch }
  if (workflowId !== undefined && branch === undefined) return { repository, workflowId }
  throw new InvalidError('api/missing-field', 'read the request: a branch or a workflow_id is needed', {
    next: 'Send exactly one of both.',
  })
}

function showExamined({ situation, says, isNormal, findings, offered }: Examination) {
  const { place, task, inputRef, head, outputRef, staged, others } = findings
  return {
    ...{ branch: place.branch, situation, says, is_normal: isNormal },
    ...defined({
      task: task && {
        ...{ workflow_id: task.workflow.workflowId, task_id: task.record.taskId },
        ...{ reference_name: task.record.referenceTaskName, status: task.record.status },
        attempt: task.record.retryCount,
      },
      ...{ input_ref: inputRef, head: head?.ref, head_message: head?.message, output_ref: outputRef },
      staged: staged && {
        ...{ branch: staged.stagingBranch, code: staged.code, why: staged.message },
        ...defined({ ref: staged.ref }),
      },
    }),
    other_workflows: others,
    offered: offered.map(({ action, isDefault, needsReason, steps }) => ({
      ...{ action, says: RECOVERY_ACTIONS[action], is_default: isDefault, needs_reason: needsReason },
      ...{ takes_result: action === 'adopt', steps },
    })),
  }
}

function showRecovered({ findings, action, done }: Recovered) {
  const shown = done.map(({ evidenceBranch, movedTo, workflowId, taskId, ...rest }) => ({
    ...rest,
    ...defined({
      evidence_branch: evidenceBranch,
      moved_to: movedTo,
      workflow_id: workflowId,
      task_id: taskId,
    }),
  }))
  return { branch: findings.place.branch, ...defined({ action }), done: shown }
}
