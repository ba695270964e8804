/** Commits, history, differences and merges. */

import { EngineError, type EngineReason } from '../engine/engine.ts'
import { empty, failure, HttpProblem, json, type Answer } from './answer.ts'
import type { Exchange, ReadBody } from './exchange.ts'
import { flag, integer, listOf, metadata, objectOf, optional, text } from './json-body.ts'
import { renderCommit, renderDifference, renderPage } from './renderings.ts'

export const COMMIT = objectOf({
  date: optional(integer),
  force: optional(flag),
  message: text,
  metadata: optional(metadata),
  allow_empty: optional(flag),
})

export async function commit(exchange: Exchange, readBody: ReadBody<typeof COMMIT>): Promise<Answer> {
  const sourceMetaRange = exchange.query.text('source_metarange')
  if (sourceMetaRange === '')
    throw new HttpProblem(
      400,
      'parameter "source_metarange" in query has an error: empty value is not allowed',
    )
  const body = await readBody()
  const made = await exchange.engine.commit({
    repository: exchange.repository,
    branch: exchange.branch,
    committer: exchange.parts.userId,
    message: body.message,
    metadata: body.metadata ?? {},
    allowEmpty: body.allow_empty ?? false,
    date: body.date,
    sourceMetaRange,
  })
  return json(201, renderCommit(made))
}

export const COMMIT_RECORD = objectOf({
  // Without it the real server drops the connection; an error is easier to understand.
  metadata,
  force: optional(flag),
  commit_id: text,
  version: integer,
  committer: text,
  message: text,
  metarange_id: text,
  creation_date: integer,
  parents: listOf(text),
  generation: integer,
})

export async function createCommitRecord(
  exchange: Exchange,
  readBody: ReadBody<typeof COMMIT_RECORD>,
): Promise<Answer> {
  const body = await readBody()
  await exchange.engine.writeCommitRecord(exchange.repository, {
    id: body.commit_id,
    version: body.version,
    committer: body.committer,
    message: body.message,
    metaRangeId: body.metarange_id,
    createdAt: body.creation_date,
    parents: body.parents,
    generation: body.generation,
    metadata: body.metadata,
  })
  return empty(204)
}

const BAD_REFS: ReadonlySet<EngineReason> = new Set(['bad-ref-expression', 'uncommitted-ref'])

export function getCommit(exchange: Exchange): Answer {
  try {
    const found = exchange.engine.getCommit(exchange.repository, exchange.segment('commitId'))
    return json(200, renderCommit(found))
  } catch (error) {
    // Elsewhere a 400; here the real server takes it for a failure of its own.
    if (error instanceof EngineError && BAD_REFS.has(error.reason)) return failure(500, error.message)
    throw error
  }
}

export function logCommits({ engine, query, repository, ref }: Exchange): Answer {
  const { after, amount } = query.page()
  const stopAt = query.text('stop_at') ?? ''
  const isLimit = query.flag('limit') ?? false
  if ((query.text('since') ?? '') !== '') {
    throw new HttpProblem(501, 'log: "since" is not offered by this server, use "stop_at"')
  }
  const page = engine.log(repository, ref, {
    after,
    amount,
    firstParent: query.flag('first_parent') ?? false,
    objects: query.texts('objects'),
    prefixes: query.texts('prefixes'),
    stopAt,
  })
  return renderPage(isLimit ? { ...page, hasMore: false } : page, (entry) => entry.id, renderCommit)
}

export function diffRefs(exchange: Exchange): Answer {
  const { engine, query, repository } = exchange
  const page = query.delimitedPage()
  const rightStats = query.flag('include_right_stats') ?? false
  const type = query.oneOf('type', ['two_dot', 'three_dot']) ?? 'three_dot'
  const right = exchange.segment('rightRef')
  return renderPage(
    engine.diffRefs({ ...page, repository, left: exchange.ref, right, type }),
    (difference) => difference.path,
    (difference) => renderDifference(difference, { rightStats }),
  )
}

export function diffBranch({ engine, query, repository, branch }: Exchange): Answer {
  return renderPage(
    engine.diffUncommitted({ ...query.delimitedPage(), repository, branch }),
    (difference) => difference.path,
    (difference) => renderDifference(difference, { rightStats: false }),
  )
}

export const MERGE = objectOf({
  message: optional(text),
  strategy: optional(text),
  metadata: optional(metadata),
  squash_merge: optional(flag),
  allow_empty: optional(flag),
  force: optional(flag),
})

export async function mergeIntoBranch(exchange: Exchange, readBody: ReadBody<typeof MERGE>): Promise<Answer> {
  const body = await readBody()
  const strategy = readStrategy(body.strategy ?? '')
  try {
    const made = await exchange.engine.merge({
      repository: exchange.repository,
      source: exchange.ref,
      destination: exchange.segment('destinationBranch'),
      committer: exchange.parts.userId,
      message: body.message ?? '',
      metadata: body.metadata ?? {},
      strategy,
      squash: body.squash_merge ?? false,
      allowEmpty: body.allow_empty === true || body.force === true,
      force: body.force === true,
    })
    return json(200, { reference: made.id })
  } catch (error) {
    // A conflict is answered in the shape of a success: no message and no paths.
    if (error instanceof EngineError && error.reason === 'merge-conflict') return json(409, { reference: '' })
    throw error
  }
}

/** The two outer names are swapped, as the real server swaps them. */
export function findMergeBase(exchange: Exchange): Answer {
  const found = exchange.engine.findMergeBase(
    exchange.repository,
    exchange.ref,
    exchange.segment('destinationBranch'),
  )
  return json(200, {
    base_commit_id: found.base,
    destination_commit_id: found.source,
    source_commit_id: found.destination,
  })
}

const OVERRIDES = optional(objectOf({ message: optional(text), metadata: optional(metadata) }))

export const REVERT = objectOf({
  force: optional(flag),
  commit_overrides: OVERRIDES,
  ref: text,
  parent_number: integer,
  allow_empty: optional(flag),
})

export async function revertBranch(exchange: Exchange, readBody: ReadBody<typeof REVERT>): Promise<Answer> {
  const body = await readBody()
  await exchange.engine.revert({
    repository: exchange.repository,
    branch: exchange.branch,
    ref: body.ref,
    parentNumber: body.parent_number,
    committer: exchange.parts.userId,
    allowEmpty: body.allow_empty ?? false,
    overrides: body.commit_overrides,
  })
  return empty(204)
}

export const CHERRY_PICK = objectOf({
  parent_number: optional(integer),
  force: optional(flag),
  commit_overrides: OVERRIDES,
  ref: text,
})

export async function cherryPick(
  exchange: Exchange,
  readBody: ReadBody<typeof CHERRY_PICK>,
): Promise<Answer> {
  const body = await readBody()
  const made = await exchange.engine.cherryPick({
    repository: exchange.repository,
    branch: exchange.branch,
    ref: body.ref,
    committer: exchange.parts.userId,
    parentNumber: body.parent_number,
    overrides: body.commit_overrides,
  })
  return json(201, renderCommit(made))
}

function readStrategy(strategy: string): 'source-wins' | 'dest-wins' | undefined {
  if (strategy === '') return undefined
  if (strategy === 'source-wins' || strategy === 'dest-wins') return strategy
  throw new HttpProblem(400, 'argument strategy: invalid value: validation error')
}
