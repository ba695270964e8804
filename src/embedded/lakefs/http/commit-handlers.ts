/** Commits, history, differences and merges. */

import { EngineError } from '../engine/engine.ts'
import { empty, HttpProblem, json, type Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { renderCommit, renderDifference, renderPage } from './renderings.ts'

export async function commit(exchange: Exchange): Promise<Answer> {
  const sourceMetaRange = exchange.query.text('source_metarange')
  const body = await exchange.fields()
  const date = body.integer('date')
  body.flag('force')
  const made = await exchange.engine.commit({
    repository: exchange.repository,
    branch: exchange.branch,
    committer: exchange.parts.userId,
    message: body.requiredText('message'),
    metadata: body.metadata('metadata') ?? {},
    allowEmpty: body.flag('allow_empty') ?? false,
    ...(date === undefined ? {} : { date }),
    ...(sourceMetaRange === undefined || sourceMetaRange === '' ? {} : { sourceMetaRange }),
  })
  return json(201, renderCommit(made))
}

export async function createCommitRecord(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const metadata = body.metadata('metadata')
  if (metadata === undefined) {
    // The real server drops the connection here; a reason is the kinder way to find the same mistake.
    throw new HttpProblem(400, 'request body has an error: property "metadata" is missing')
  }
  body.flag('force')
  await exchange.engine.writeCommitRecord(exchange.repository, {
    commitId: body.requiredText('commit_id'),
    version: body.requiredInteger('version'),
    committer: body.requiredText('committer'),
    message: body.requiredText('message'),
    metaRangeId: body.requiredText('metarange_id'),
    createdAt: body.requiredInteger('creation_date'),
    parents: body.texts('parents'),
    generation: body.requiredInteger('generation'),
    metadata,
  })
  return empty(204)
}

export function getCommit(exchange: Exchange): Answer {
  return json(200, renderCommit(exchange.engine.getCommit(exchange.repository, exchange.segment('commitId'))))
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
    ...(stopAt === '' ? {} : { stopAt }),
  })
  return renderPage(isLimit ? { ...page, hasMore: false } : page, (entry) => entry.id, renderCommit)
}

export function diffRefs(exchange: Exchange): Answer {
  const { engine, query, repository } = exchange
  const delimiter = query.text('delimiter') ?? ''
  const rightStats = query.flag('include_right_stats') ?? false
  const page = engine.diffRefs({
    ...query.page(),
    repository,
    left: exchange.ref,
    right: exchange.segment('rightRef'),
    type: query.oneOf('type', ['two_dot', 'three_dot']) ?? 'three_dot',
    ...(delimiter === '' ? {} : { delimiter }),
  })
  return renderPage(
    page,
    (difference) => difference.path,
    (difference) => renderDifference(difference, { rightStats }),
  )
}

export function diffBranch({ engine, query, repository, branch }: Exchange): Answer {
  const delimiter = query.text('delimiter') ?? ''
  const page = engine.diffUncommitted({
    ...query.page(),
    repository,
    branch,
    ...(delimiter === '' ? {} : { delimiter }),
  })
  return renderPage(
    page,
    (difference) => difference.path,
    (difference) => renderDifference(difference, { rightStats: false }),
  )
}

export async function mergeIntoBranch(exchange: Exchange): Promise<Answer> {
  const body = await exchange.optionalFields()
  const message = body.text('message')
  const strategy = readStrategy(body.text('strategy'))
  try {
    const made = await exchange.engine.merge({
      repository: exchange.repository,
      source: exchange.ref,
      destination: exchange.segment('destinationBranch'),
      committer: exchange.parts.userId,
      metadata: body.metadata('metadata') ?? {},
      squash: body.flag('squash_merge') ?? false,
      allowEmpty: body.flag('allow_empty') ?? false,
      force: body.flag('force') ?? false,
      ...(message === undefined || message === '' ? {} : { message }),
      ...(strategy === undefined ? {} : { strategy }),
    })
    return json(200, { reference: made.id })
  } catch (error) {
    // A conflict answers with the shape of a success: no message and no paths.
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

export async function revertBranch(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  body.flag('force')
  refuseOverrides(body.object('commit_overrides'))
  await exchange.engine.revert({
    repository: exchange.repository,
    branch: exchange.branch,
    ref: body.requiredText('ref'),
    parentNumber: body.requiredInteger('parent_number'),
    committer: exchange.parts.userId,
    allowEmpty: body.flag('allow_empty') ?? false,
  })
  return empty(204)
}

export async function cherryPick(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const parentNumber = body.integer('parent_number')
  body.flag('force')
  refuseOverrides(body.object('commit_overrides'))
  const made = await exchange.engine.cherryPick({
    repository: exchange.repository,
    branch: exchange.branch,
    ref: body.requiredText('ref'),
    committer: exchange.parts.userId,
    ...(parentNumber === undefined ? {} : { parentNumber }),
  })
  return json(201, renderCommit(made))
}

function readStrategy(strategy: string | undefined): 'source-wins' | 'dest-wins' | undefined {
  if (strategy === undefined || strategy === '') return undefined
  if (strategy === 'source-wins' || strategy === 'dest-wins') return strategy
  throw new HttpProblem(400, 'argument strategy: invalid value: validation error')
}

function refuseOverrides(overrides: object | undefined): void {
  if (overrides !== undefined) throw new HttpProblem(501, 'commit_overrides is not offered by this server')
}
