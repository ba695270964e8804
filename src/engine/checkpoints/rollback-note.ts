/** A rollback that has begun, in the store until it has ended. One execution has at most one. */

import { RefusedError } from '../../base/errors.ts'
import { fromBytes, toBytes } from '../../core/json.ts'
import {
  engineIndexPrefix,
  executionId,
  type ExecutionId,
  type ExecutionScope,
  type TenantId,
} from '../../core/keys.ts'
import { commitGuarded, type WritePace } from '../../core/namespaces/guarded-write.ts'
import { scopeOf } from '../../core/namespaces/scopes.ts'
import type { Store } from '../../core/ports.ts'
import { readPages } from '../../core/read-pages.ts'
import type { AfterRollback } from './restore-state.ts'
import type { RollbackScope } from './undone-units.ts'

export interface RollbackNote {
  /** In the execution once its state is restored. */
  readonly id: string
  readonly of: RollbackScope
  readonly then: AfterRollback
  readonly reason: string | undefined
  readonly wasRunning: boolean
  /** Its policy asked for it. */
  readonly isRecovery?: boolean
}

type Parts = WritePace & { readonly store: Store }

export async function noteRollback(parts: Parts, scope: ExecutionScope, note: RollbackNote): Promise<void> {
  const { store } = parts
  const key = scopeOf(store, scope).keys.rollback
  const batch = {
    conditions: [{ key, is: 'absent' as const }],
    operations: [
      { do: 'put' as const, key, value: toBytes(JSON.stringify(note)) },
      { do: 'put' as const, key: indexKey(scope), value: new Uint8Array() },
    ],
  }
  const hasHappened = async (): Promise<'yes' | 'no' | 'open'> => {
    const found = await readRollbackNote(store, scope)
    if (found === undefined) return 'open'
    return found.id === note.id ? 'yes' : 'no'
  }
  if ((await commitGuarded(store, { batch, hasHappened }, parts)).committed) return
  throw new RefusedError(
    'engine/rollback-open',
    `roll back execution ${scope.execution}: another rollback has begun and not ended`,
    { details: { execution: scope.execution }, next: 'Resume that one first.' },
  )
}

export async function readRollbackNote(
  store: Store,
  scope: ExecutionScope,
): Promise<RollbackNote | undefined> {
  const entry = await store.get(scopeOf(store, scope).keys.rollback)
  return entry === undefined ? undefined : (JSON.parse(fromBytes(entry.value)) as RollbackNote)
}

/** The executions of a tenant whose rollback has begun and not ended, ended ones too. */
export async function listRollbackNotes(
  store: Store,
  tenant: TenantId | undefined,
): Promise<readonly ExecutionId[]> {
  const prefix = engineIndexPrefix('rollback', tenant)
  const found: ExecutionId[] = []
  for await (const page of readPages(store, { prefix }))
    for (const { key } of page) found.push(executionId(key.slice(prefix.length)))
  return found
}

export async function strikeRollbackNote(
  parts: Parts,
  scope: ExecutionScope,
  note: RollbackNote,
): Promise<void> {
  const { store } = parts
  const key = scopeOf(store, scope).keys.rollback
  const entry = await store.get(key)
  // Removed with the other parts of an execution that was swept.
  if (entry === undefined) await store.commit({ operations: [{ do: 'delete', key: indexKey(scope) }] })
  if (entry === undefined || (JSON.parse(fromBytes(entry.value)) as RollbackNote).id !== note.id) return
  const batch = {
    conditions: [{ key, is: 'at' as const, revision: entry.revision }],
    operations: [
      { do: 'delete' as const, key },
      { do: 'delete' as const, key: indexKey(scope) },
    ],
  }
  const hasHappened = async (): Promise<'yes' | 'open'> =>
    (await readRollbackNote(store, scope))?.id === note.id ? 'open' : 'yes'
  await commitGuarded(store, { batch, hasHappened }, parts)
}

function indexKey({ tenant, execution }: ExecutionScope): string {
  return `${engineIndexPrefix('rollback', tenant)}${execution}`
}
