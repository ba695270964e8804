/**
 * On whose behalf a branch is written. Nothing in this room writes a branch without an authority, and there is no default:
 * it is either an attempt, with a way to read it again, or an actor without an attempt, by name.
 */

import { abortReason } from '../base/clock.ts'
import { InvalidError } from '../base/errors.ts'
import {
  assertCurrentAttemptSnapshot,
  UnknownAttemptError,
  type AttemptPolicy,
} from '../fences/attempt-fence.ts'
import type { AttemptSnapshot, FreshAttempt } from '../fences/attempt-snapshot.ts'
import type { CallOptions } from './ports.ts'

/** `any`: whatever commit stands directly above the input ref; `own`: only what this very task published. */
export type ReplacePolicy = 'any' | 'own'

/** An attempt that a worker claimed. It must pass the attempt fence before every branch write. */
export interface AttemptAuthority {
  readonly kind: 'attempt'
  /** What was polled. */
  readonly attempt: AttemptSnapshot
  /** Reads the task and the status of its workflow as they are now; throws when they cannot be read. */
  readonly readFresh: (options: CallOptions) => Promise<FreshAttempt>
  readonly policy?: AttemptPolicy
  /** `any` unless set. */
  readonly replace?: ReplacePolicy
  readonly referenceTaskName: string
  /** The names of their definitions, for people. */
  readonly taskName?: string | undefined
  readonly workflowName?: string | undefined
  readonly seq: number
  readonly iteration: number
  /** Unique for each execution of an attempt; part of the staging branch's name and of the commits' metadata. */
  readonly executionId: string
  readonly codeVersion?: string | undefined
}

/**
 * Somebody without an attempt: an operator, `perago run`, a recovery. There is no attempt fence to pass; a commit above
 * the input ref is replaced only if this same execution published it.
 */
export interface ActorAuthority {
  readonly kind: 'actor'
  /** Who asks, such as `run` or `operator`. */
  readonly actor: string
  /** What is published, such as the name of a task. */
  readonly subject: string
  /** The execution on whose behalf it acts, such as one that is rolled back. */
  readonly workflowId?: string | undefined
  /** Unique for each execution: no two share a staging branch. */
  readonly executionId: string
  readonly codeVersion?: string | undefined
}

export type Authority = AttemptAuthority | ActorAuthority

/** For callers that the compiler did not check. */
export function requireAuthority(authority: Authority | undefined): void {
  const given: Partial<AttemptAuthority | ActorAuthority> = authority ?? {}
  const isNamed =
    given.kind === 'actor'
      ? Boolean(given.actor)
      : given.kind === 'attempt' && given.attempt !== undefined && given.readFresh !== undefined
  if (isNamed && Boolean(given.executionId)) return
  throw new InvalidError(
    'publication/no-authority',
    'write a branch: neither an attempt that can be read again nor an actor is named',
    { next: 'Pass an attempt with its readFresh, or an actor, each with an executionId.' },
  )
}

/** Reads the attempt again and throws unless it is current. An attempt that cannot be read stops like a stale one. */
export async function confirmAuthority(authority: Authority, call: CallOptions): Promise<void> {
  if (call.signal?.aborted === true) throw abortReason(call.signal)
  if (authority.kind === 'actor') return
  const { attempt, policy } = authority
  assertCurrentAttemptSnapshot(attempt, await readOrStop(authority, call), policy)
}

async function readOrStop(
  { attempt, readFresh }: AttemptAuthority,
  call: CallOptions,
): Promise<FreshAttempt> {
  try {
    return await readFresh(call)
  } catch (error) {
    if (call.signal?.aborted === true) throw abortReason(call.signal)
    throw new UnknownAttemptError(attempt, error)
  }
}

/** For the messages of commits. */
export function describeAuthority(authority: Authority): string {
  return authority.kind === 'actor'
    ? `${authority.subject}, by ${authority.actor}`
    : `${authority.referenceTaskName}, attempt ${authority.attempt.retryCount}`
}
