/** What became of publications, and what may be done about it: shown first, then done as it was shown. */

import { createHash } from 'node:crypto'
import { InvalidError, MissingError, RefusedError, UnavailableError } from '../../base/errors.ts'
import type { Json } from '../../base/json.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { openConductorClient } from '../../conductor/client.ts'
import { NEXT_AFTER_CHECK, VERIFIED_CHECKS, type VerifiedCheck } from '../../recovery/history-judge.ts'
import { RECOVERY_ACTIONS, type RecoveryAction } from '../../recovery/plan.ts'
import {
  examine,
  isRecoveryAction,
  recover,
  type Examination,
  type Recovered,
} from '../../recovery/recover.ts'
import type { RecoveryWorld } from '../../recovery/ports.ts'
import { verify, type Verification, type VerifyRequest } from '../../recovery/verify.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'
import { VERIFICATION_MAX_MS, VERIFICATIONS_AT_ONCE } from '../limits.ts'
import { withRecovery } from '../open-recovery.ts'
import type { InProcess } from './open-workflow-views.ts'

export interface RecoveryView {
  /** Reads only. */
  preview(target: RecoveryTarget, signal?: AbortSignal): Promise<RecoveryPreview>
  /** Throws `runtime/recovery-changed` where it is no longer as it was shown. */
  recover(target: RecoveryTarget, request: RecoveryAct): Promise<readonly Recovered[]>
  /** Reads only, for a limited time. Throws `runtime/too-many-verifications`. */
  verify(request: ViewedHistory, signal?: AbortSignal): Promise<Verification>
  /** May be called twice. */
  close(): Promise<void>
}

export type ViewedHistory = Pick<VerifyRequest, 'repository' | 'branch' | 'since' | 'limit'>

/** A branch, or what a workflow has done to those of the repository. */
export type RecoveryTarget = { readonly repository: string } & (
  | { readonly branch: string; readonly workflowId?: undefined }
  | { readonly workflowId: string; readonly branch?: undefined }
)

export interface RecoveryPreview {
  /** Of everything that was found, and of what may be done. */
  readonly digest: string
  readonly branches: readonly Examination[]
}

export interface RecoveryAct {
  readonly digest: string
  readonly action: string
  readonly reason?: string | undefined
  readonly result?: Json | undefined
}

export { NEXT_AFTER_CHECK, RECOVERY_ACTIONS, VERIFIED_CHECKS }
export type { Examination, RecoveryAction, Recovered, Verification, VerifiedCheck }

export interface RecoveryViewParts {
  readonly configuration: Pick<PeragoConfiguration, 'lakefs' | 'conductor' | 'ledger'>
  /** An engine of this process, instead of the configured Conductor. */
  readonly conductor?: InProcess | undefined
  readonly logger?: Logger
}

/** Opens what a recovery needs, and closes it after the work. */
export type WithinRecovery = <T>(
  signal: AbortSignal | undefined,
  work: (world: RecoveryWorld) => Promise<T>,
) => Promise<T>

/** Sends nothing yet. */
export function openRecoveryView(parts: RecoveryViewParts): RecoveryView {
  const { configuration, conductor: answer, logger = silentLogger } = parts
  const conductor = answer && openConductorClient({ endpoint: 'http://localhost', answer, logger })
  return {
    ...recoverWithin((signal, work) =>
      withRecovery(configuration, { logger, root: undefined, conductor, signal }, work),
    ),
    close: once(async () => conductor?.close()),
  }
}

export function recoverWithin(
  within: WithinRecovery,
  { verificationMaxMs = VERIFICATION_MAX_MS }: { readonly verificationMaxMs?: number } = {},
): Omit<RecoveryView, 'close'> {
  let verifications = 0
  return {
    verify: async (request, signal) => {
      if (verifications === VERIFICATIONS_AT_ONCE) throw tooManyVerifications(request)
      verifications += 1
      try {
        const until = AbortSignal.timeout(verificationMaxMs)
        return await within(signal, (world) => verify(world, { ...request, until }))
      } finally {
        verifications -= 1
      }
    },
    preview: (target, signal) =>
      within(signal, async (world) => {
        const branches = ofRepository(target, await examine(world, textOf(target)))
        return { digest: digestOf(branches), branches }
      }),
    recover: (target, { digest, action, reason, result }) => {
      if (!isRecoveryAction(action)) throw unknownAction(action)
      const accept = (examined: readonly Examination[]): readonly Examination[] => {
        const branches = ofRepository(target, examined)
        if (digestOf(branches) !== digest) throw changed(target)
        return branches
      }
      return within(undefined, (world) =>
        recover(world, { target: textOf(target), action, reason, result, accept }),
      )
    },
  }
}

function textOf({ repository, branch, workflowId }: RecoveryTarget): string {
  return workflowId ?? `${repository}/${branch}`
}

function ofRepository(target: RecoveryTarget, examined: readonly Examination[]): readonly Examination[] {
  const own = examined.filter(({ findings }) => findings.place.repository === target.repository)
  if (own.length > 0) return own
  throw new MissingError(
    'runtime/not-in-repository',
    `recover ${textOf(target)}: it has written no branch of the repository "${target.repository}"`,
    { next: 'Name another repository, or a branch.' },
  )
}

function digestOf(branches: readonly Examination[]): string {
  const seen = branches.map(({ situation, findings, offered }) => {
    const { place, facts, task, inputRef, head, claimed, outputRef, staged, others } = findings
    const attempt = task && [task.record.taskId, task.record.status, task.record.pollCount]
    return [
      place,
      situation,
      facts,
      attempt,
      inputRef,
      head?.ref,
      claimed,
      outputRef,
      staged?.ref,
      others,
      offered,
    ]
  })
  return createHash('sha256').update(JSON.stringify(seen)).digest('hex')
}

function changed(target: RecoveryTarget): RefusedError {
  return new RefusedError(
    'runtime/recovery-changed',
    `recover ${textOf(target)}: it is no longer as it was shown; nothing was done`,
    { next: 'Look at it again, and decide anew.' },
  )
}

function tooManyVerifications({ repository, branch }: ViewedHistory): UnavailableError {
  const count = String(VERIFICATIONS_AT_ONCE)
  return new UnavailableError(
    'runtime/too-many-verifications',
    `verify ${repository}/${branch}: this server makes ${count} verifications already`,
    { retryAfterMs: VERIFICATION_MAX_MS, next: 'Ask again in some seconds.' },
  )
}

function unknownAction(action: string): InvalidError {
  return new InvalidError(
    'recovery/not-offered',
    `recover by ${JSON.stringify(action)}: there is no such action`,
    {
      next: `Choose one of ${Object.keys(RECOVERY_ACTIONS).join(', ')}.`,
    },
  )
}
