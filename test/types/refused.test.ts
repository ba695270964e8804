// What must not compile, each case with the compiler's own code for why; and the nearest thing that must.
import { expect, test } from 'vitest'
import { compileSnippets } from '../support/type-check.ts'

const IDS = `import { branchName, commitRef, type BranchName, type CommitRef } from './src/base/ids.ts'`
const PORTS = `import type { MergeOutcome, VersionedRepo } from './src/publication/ports.ts'
declare const repo: VersionedRepo`
const ERRORS = `import { InvalidError, PeragoError, UncertainError, type ErrorKind } from './src/perago.ts'`

const PUBLICATION = `import { publish } from './src/publication/publish.ts'
import { relocate } from './src/publication/relocate.ts'
import { openStagingSession } from './src/publication/open-staging.ts'
import type { ActorAuthority, AttemptAuthority } from './src/publication/authority.ts'
import type { PublicationRequest } from './src/publication/publication.ts'
import type { RelocationRequest } from './src/publication/relocate.ts'
declare const publication: Pick<PublicationRequest, 'repo' | 'target' | 'changes'>
declare const relocation: Omit<RelocationRequest, 'authority'>
declare const staging: Omit<Parameters<typeof openStagingSession>[0], 'authority'>
declare const attempt: AttemptAuthority
declare const actor: ActorAuthority`

const NOT_ASSIGNABLE = 2322
const BAD_ARGUMENT = 2345
const NOT_THERE = 2339
const MISSING_PROPERTY = 2741
const ABSTRACT = 2511
const READ_ONLY = 2540
const TOO_FEW = 2554
const UNKNOWN_PROPERTY = 2353

interface Case {
  readonly what: string
  readonly prelude: string
  readonly refused: string
  readonly code: number
  readonly accepted: string
}

const CASES: readonly Case[] = [
  {
    what: 'a bare string in the place of a commit',
    prelude: IDS,
    refused: `export const ref: CommitRef = 'a1b2'`,
    code: NOT_ASSIGNABLE,
    accepted: `export const ref: CommitRef = commitRef('a1b2')`,
  },
  {
    what: 'a branch in the place of a commit',
    prelude: IDS,
    refused: `export const ref: CommitRef = branchName('main')`,
    code: NOT_ASSIGNABLE,
    accepted: `export const branch: BranchName = branchName('main')`,
  },
  {
    what: 'merging a branch, which could move, and not a commit',
    prelude: `${IDS}\n${PORTS}`,
    refused: `void repo.merge({ source: branchName('work'), into: branchName('main') })`,
    code: NOT_ASSIGNABLE,
    accepted: `void repo.merge({ source: commitRef('a1'), into: branchName('main') })`,
  },
  {
    what: 'a conflict taken for a merge',
    prelude: `${PORTS}\ndeclare const outcome: MergeOutcome`,
    refused: `export const ref = outcome.ref`,
    code: NOT_THERE,
    accepted: `export const ref = outcome.merged ? outcome.ref : undefined`,
  },
  {
    what: 'moving a branch without saying where it must stand',
    prelude: `${IDS}\n${PORTS}`,
    refused: `void repo.moveBranch({ branch: branchName('main'), to: commitRef('a1') })`,
    code: BAD_ARGUMENT,
    accepted: `void repo.moveBranch({ branch: branchName('main'), expectedHead: commitRef('a0'), to: commitRef('a1') })`,
  },
  {
    what: 'an error without a kind of its own',
    prelude: ERRORS,
    refused: `throw new PeragoError('room/what', 'did something')`,
    code: ABSTRACT,
    accepted: `throw new InvalidError('room/what', 'did something')`,
  },
  {
    what: 'a code that does not name its room',
    prelude: ERRORS,
    refused: `throw new InvalidError('what', 'did something')`,
    code: BAD_ARGUMENT,
    accepted: `throw new InvalidError('room/what', 'did something')`,
  },
  {
    what: 'an uncertain outcome that does not say what to read',
    prelude: ERRORS,
    refused: `throw new UncertainError('room/what', 'did something')`,
    code: TOO_FEW,
    accepted: `throw new UncertainError('room/what', 'did something', { read: 'the branch' })`,
  },
  {
    what: 'a table over the kinds of errors with a row missing',
    prelude: ERRORS,
    refused: `export const table: Record<ErrorKind, number> = { invalid: 1, missing: 2, refused: 3, unavailable: 4, uncertain: 5 }`,
    code: MISSING_PROPERTY,
    accepted: `export const table: Record<ErrorKind, number> = { invalid: 1, missing: 2, refused: 3, unavailable: 4, uncertain: 5, defect: 6 }`,
  },
  {
    what: 'changing an error after it was made',
    prelude: `${ERRORS}\ndeclare const error: PeragoError`,
    refused: `error.code = 'room/other'`,
    code: READ_ONLY,
    accepted: `export const code = error.code`,
  },
]

const AUTHORITY_CASES: readonly Case[] = [
  {
    what: "a publication on nobody's behalf",
    prelude: PUBLICATION,
    refused: `void publish(publication)`,
    code: BAD_ARGUMENT,
    accepted: `void publish({ ...publication, authority: attempt })`,
  },
  {
    what: "a relocation on nobody's behalf",
    prelude: PUBLICATION,
    refused: `void relocate(relocation)`,
    code: BAD_ARGUMENT,
    accepted: `void relocate({ ...relocation, authority: actor })`,
  },
  {
    what: "a staging branch on nobody's behalf",
    prelude: PUBLICATION,
    refused: `openStagingSession(staging)`,
    code: BAD_ARGUMENT,
    accepted: `openStagingSession({ ...staging, authority: attempt })`,
  },
  {
    what: 'an attempt that cannot be read again',
    prelude: `${PUBLICATION}\nconst { readFresh, ...without } = attempt`,
    refused: `void publish({ ...publication, authority: without })`,
    code: NOT_ASSIGNABLE,
    accepted: `void publish({ ...publication, authority: { ...without, readFresh } })`,
  },
  {
    what: 'a way to read an attempt, and no snapshot to compare with',
    prelude: `${PUBLICATION}\nconst { attempt: snapshot, ...without } = attempt`,
    refused: `void publish({ ...publication, authority: without })`,
    code: NOT_ASSIGNABLE,
    accepted: `void publish({ ...publication, authority: { ...without, attempt: snapshot } })`,
  },
  {
    what: 'an attempt of which it is not said that it is one',
    prelude: `${PUBLICATION}\nconst { kind, ...without } = attempt`,
    refused: `void publish({ ...publication, authority: without })`,
    code: NOT_ASSIGNABLE,
    accepted: `void publish({ ...publication, authority: { ...without, kind } })`,
  },
  {
    what: 'an actor without a name',
    prelude: `${PUBLICATION}\nconst { actor: name, ...without } = actor`,
    refused: `void publish({ ...publication, authority: without })`,
    code: NOT_ASSIGNABLE,
    accepted: `void publish({ ...publication, authority: { ...without, actor: name } })`,
  },
  {
    what: 'an actor that may replace what others published',
    prelude: PUBLICATION,
    refused: `export const any: ActorAuthority = { kind: 'actor', actor: 'a', subject: 's', executionId: 'e', replace: 'any' }`,
    code: UNKNOWN_PROPERTY,
    accepted: `export const own: ActorAuthority = { kind: 'actor', actor: 'a', subject: 's', executionId: 'e' }`,
  },
]

test('F-59 no branch is written without an attempt that can be read again or an actor by name', () => {
  expectRefused(AUTHORITY_CASES)
}, 60_000)

test('HO-17 each case is refused for its reason, and its right form compiles', () => {
  expectRefused(CASES)
}, 60_000)

function expectRefused(cases: readonly Case[]): void {
  const codes = compileSnippets(
    cases.flatMap(({ prelude, refused, accepted }) => [`${prelude}\n${refused}`, `${prelude}\n${accepted}`]),
  )
  const seen = cases.map(({ what }, index) => ({
    what,
    refused: codes[2 * index],
    accepted: codes[2 * index + 1],
  }))
  expect(seen).toEqual(cases.map(({ what, code }) => ({ what, refused: [code], accepted: [] })))
}
