/**
 * The ledger: what a published commit says, in its metadata, of the run that made it and of that run's result. Written and
 * read here and nowhere else; `docs/reference/ledger.md` describes it.
 *
 * 1. What was written reads as the same entry.
 * 2. An entry with any field changed, added or missing is unreadable, and never another entry.
 * 3. No fence reads it.
 */

import { createHash } from 'node:crypto'
import { isCommitRef, type BranchName, type CommitRef, type RepositoryName } from '../base/ids.ts'
import type { Json } from '../base/json.ts'
import type { Authority } from './authority.ts'
import { describeCommit, type MetadataKey } from './commit-metadata.ts'
import type { Metadata } from './ports.ts'

const LEDGER_VERSION = '1'

/** `not-given`: there was none to record. `secret`: it holds a configured secret. `no-place`: the server took no record. */
const RESULT_OMISSIONS = ['not-given', 'too-large', 'secret', 'no-place'] as const
export type ResultOmission = (typeof RESULT_OMISSIONS)[number]

/** `kept`: too large for the metadata of a commit that everybody reads; a record that no branch holds has it. */
export type RecordedResult =
  | { readonly kind: 'inline'; readonly value: Json }
  | { readonly kind: 'kept'; readonly ref: CommitRef; readonly sha256: string }
  | { readonly kind: 'left-out'; readonly why: ResultOmission }

export interface LedgerAttempt {
  readonly kind: 'attempt'
  readonly workflowId: string
  /** The reference name of the task in its workflow. */
  readonly task: string
  readonly iteration: number
  readonly taskId: string
  readonly retryCount: number
  readonly workerId: string
}

export interface LedgerActor {
  readonly kind: 'actor'
  readonly actor: string
  readonly subject: string
  readonly workflowId: string | undefined
}

export interface Ledger {
  /** The execution that published; unique. */
  readonly runId: string
  readonly repository: string
  readonly branch: string
  readonly inputRef: CommitRef
  readonly by: LedgerAttempt | LedgerActor
  readonly codeVersion: string | undefined
  readonly result: RecordedResult
}

/** `none`: no ledger was written, as by other programs, by hand, and by earlier versions. */
export type LedgerReading =
  | { readonly kind: 'none' }
  | { readonly kind: 'unreadable'; readonly problems: readonly string[] }
  | { readonly kind: 'entry'; readonly ledger: Ledger }

/** The fields in their order, which is that of the checksum. */
const LEDGER_FIELDS = [
  'publish.ledger',
  'publish.run',
  'publish.repository',
  'publish.branch',
  'publish.input',
  'publish.workflow',
  'publish.task',
  'publish.iteration',
  'publish.task_id',
  'publish.attempt',
  'publish.worker',
  'publish.actor',
  'publish.code_version',
  'publish.result',
  'publish.result_ref',
  'publish.result_sha256',
  'publish.result_left_out',
] as const satisfies readonly MetadataKey[]
type LedgerField = (typeof LEDGER_FIELDS)[number]

/** The whole metadata of a staged or published commit, as far as the publication knows it. */
export function writeLedger(of: {
  readonly authority: Authority
  readonly repository: RepositoryName
  readonly branch: BranchName
  readonly inputRef: CommitRef
  readonly result: RecordedResult
}): Metadata {
  const fields = {
    ...describeCommit(of.authority, of.inputRef),
    ...({
      'publish.ledger': LEDGER_VERSION,
      'publish.repository': of.repository,
      'publish.branch': of.branch,
    } satisfies Partial<Record<LedgerField, string>>),
    ...writeResult(of.result),
  }
  return { ...fields, ['publish.checksum' satisfies MetadataKey]: sha256Of(sealedText(fields)) }
}

/**
 * ```ts
 * const reading = readLedger(commit.metadata)
 * if (reading.kind === 'entry') console.log(reading.ledger.by)
 * ```
 */
export function readLedger(metadata: Metadata): LedgerReading {
  const version = fieldOf(metadata, 'publish.ledger')
  if (version === undefined) return { kind: 'none' }
  if (version !== LEDGER_VERSION)
    return unreadable([`publish.ledger: version ${JSON.stringify(version)} is not known here`])
  if (metadata['publish.checksum' satisfies MetadataKey] !== sha256Of(sealedText(metadata)))
    return unreadable(['publish.checksum: the fields are not those that were written'])
  const problems: string[] = []
  const fields = new Fields(metadata, problems)
  const inputRef = fields.ref('publish.input')
  const ledger = {
    runId: fields.text('publish.run'),
    repository: fields.text('publish.repository'),
    branch: fields.text('publish.branch'),
    by: readMaker(fields),
    codeVersion: fieldOf(metadata, 'publish.code_version'),
    result: readResult(fields),
  }
  const { result } = ledger
  if (problems.length > 0 || inputRef === undefined || result === undefined) return unreadable(problems)
  return { kind: 'entry', ledger: { ...ledger, inputRef, result } }
}

/** What checksum and signature are computed over: all fields of the ledger, in one order. */
export function sealedText(metadata: Metadata): string {
  return JSON.stringify(
    LEDGER_FIELDS.flatMap((key) => (Object.hasOwn(metadata, key) ? [[key, metadata[key]]] : [])),
  )
}

export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** `undefined`: the text is no JSON. */
export function parseJson(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json }
  } catch {
    return undefined
  }
}

function writeResult(result: RecordedResult): Partial<Record<LedgerField, string>> {
  switch (result.kind) {
    case 'inline':
      return { 'publish.result': JSON.stringify(result.value) }
    case 'kept':
      return { 'publish.result_ref': result.ref, 'publish.result_sha256': result.sha256 }
    case 'left-out':
      return { 'publish.result_left_out': result.why }
  }
}

function readResult(fields: Fields): RecordedResult | undefined {
  const { metadata } = fields
  const wrong = (key: LedgerField, what: string): RecordedResult | undefined => {
    fields.problem(key, what)
    return undefined
  }
  const inline = fieldOf(metadata, 'publish.result')
  const ref = fieldOf(metadata, 'publish.result_ref')
  const why = fieldOf(metadata, 'publish.result_left_out')
  if ([inline, ref, why].filter((field) => field !== undefined).length !== 1)
    return wrong('publish.result', 'exactly one of the fields about the result must be there')
  if (inline !== undefined) {
    const parsed = parseJson(inline)
    return parsed ? { kind: 'inline', ...parsed } : wrong('publish.result', 'is no JSON')
  }
  if (why !== undefined) {
    const known = RESULT_OMISSIONS.find((omission) => omission === why)
    return known ? { kind: 'left-out', why: known } : wrong('publish.result_left_out', 'is not known')
  }
  const kept = { ref: fields.ref('publish.result_ref'), sha256: fields.text('publish.result_sha256') }
  return kept.ref && { kind: 'kept', ref: kept.ref, sha256: kept.sha256 }
}

function readMaker(fields: Fields): Ledger['by'] {
  const actor = fieldOf(fields.metadata, 'publish.actor')
  if (actor !== undefined) {
    const workflowId = fieldOf(fields.metadata, 'publish.workflow')
    return { kind: 'actor', actor, subject: fields.text('publish.task'), workflowId }
  }
  return {
    kind: 'attempt',
    workflowId: fields.text('publish.workflow'),
    task: fields.text('publish.task'),
    iteration: fields.count('publish.iteration'),
    taskId: fields.text('publish.task_id'),
    retryCount: fields.count('publish.attempt'),
    workerId: fields.text('publish.worker'),
  }
}

/** Reads one field after the other, and collects what is wrong. */
class Fields {
  readonly metadata: Metadata
  readonly #problems: string[]

  constructor(metadata: Metadata, problems: string[]) {
    this.metadata = metadata
    this.#problems = problems
  }

  problem(key: LedgerField, what: string): void {
    this.#problems.push(`${key}: ${what}`)
  }

  text(key: LedgerField): string {
    const found = fieldOf(this.metadata, key)
    if (found === undefined) this.problem(key, 'is missing')
    return found ?? ''
  }

  count(key: LedgerField): number {
    const text = this.text(key)
    const count = Number(text)
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) this.problem(key, 'is no count')
    return count
  }

  ref(key: LedgerField): CommitRef | undefined {
    const text = this.text(key)
    if (isCommitRef(text)) return text
    this.problem(key, 'is no commit')
    return undefined
  }
}

function fieldOf(metadata: Metadata, key: LedgerField): string | undefined {
  return Object.hasOwn(metadata, key) ? metadata[key] : undefined
}

function unreadable(problems: readonly string[]): LedgerReading {
  return { kind: 'unreadable', problems }
}
