/** The statements that write batches, and what their answers say. */

import type { QueryResultRow } from 'pg'
import type { CommitOutcome, StoreCondition, StoreOperation } from '../../core/ports.ts'
import type { CheckedBatch } from '../backend.ts'
import { bufferOf } from '../bytes.ts'
import type { Statement } from './connections.ts'

export interface CommitRow extends QueryResultRow {
  readonly revision: string | null
  /** Of a condition that did not hold, the number of its batch. */
  readonly batch?: number
  readonly unmet_key: string
  readonly unmet_revision: string | null
}

export function statementOfBatch(schema: string, { conditions, operations }: CheckedBatch): Statement {
  return {
    name: 'commit',
    text: `SELECT * FROM ${schema}.commit_batch($1, $2, $3, $4, $5, $6, $7)`,
    values: [
      conditions.map(({ key }) => key),
      conditions.map(({ is }) => is),
      conditions.map(wantedOf),
      operations.map(({ key }) => key),
      operations.map((operation) => operation.do),
      operations.map(valueOf),
      operations.map(ttlOf),
    ],
  }
}

export function statementOfGroup(schema: string, batches: readonly CheckedBatch[]): Statement {
  const conditions = batches.flatMap((batch, at) => batch.conditions.map((condition) => ({ at, condition })))
  const operations = batches.flatMap((batch, at) => batch.operations.map((operation) => ({ at, operation })))
  const puts = operations.filter(({ operation }) => operation.do === 'put')
  const deletes = operations.filter(({ operation }) => operation.do === 'delete')
  return {
    name: 'commit-group',
    text: `SELECT * FROM ${schema}.commit_group($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    values: [
      conditions.map(({ at }) => at),
      conditions.map(({ condition }) => condition.key),
      conditions.map(({ condition }) => condition.is),
      conditions.map(({ condition }) => wantedOf(condition)),
      puts.map(({ at }) => at),
      puts.map(({ operation }) => operation.key),
      puts.map(({ operation }) => valueOf(operation)),
      puts.map(({ operation }) => ttlOf(operation)),
      deletes.map(({ at }) => at),
      deletes.map(({ operation }) => operation.key),
    ],
  }
}

export function outcomeOfBatch(rows: readonly CommitRow[]): CommitOutcome {
  const revision = rows[0]?.revision ?? null
  if (revision !== null) return { committed: true, revision: Number(revision) }
  return { committed: false, unmet: rows.map(unmetOf) }
}

/** None where the answer has no revision: it is not one of this statement. */
export function outcomesOfGroup(count: number, rows: readonly CommitRow[]): readonly CommitOutcome[] {
  const revision = rows.find((row) => row.revision !== null)?.revision ?? null
  if (revision === null) return []
  const committed = { committed: true, revision: Number(revision) } as const
  const refused = new Map<number | undefined, CommitRow[]>()
  for (const row of rows) {
    if (row.revision === null) refused.set(row.batch, [...(refused.get(row.batch) ?? []), row])
  }
  return Array.from({ length: count }, (_, at) => {
    const unmet = refused.get(at)
    return unmet === undefined ? committed : { committed: false, unmet: unmet.map(unmetOf) }
  })
}

function unmetOf({ unmet_key: key, unmet_revision: found }: CommitRow): {
  readonly key: string
  readonly revision: number | undefined
} {
  return { key, revision: found === null ? undefined : Number(found) }
}

function wantedOf(condition: StoreCondition): number | null {
  return condition.is === 'at' ? condition.revision : null
}

function valueOf(operation: StoreOperation): Buffer | null {
  return operation.do === 'put' ? bufferOf(operation.value) : null
}

function ttlOf(operation: StoreOperation): number | null {
  return operation.do === 'put' ? (operation.ttlMs ?? null) : null
}
