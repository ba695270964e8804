/** Branches and tags. */

import { EngineError, type ResetRequest } from '../engine/engine.ts'
import { empty, failure, HttpProblem, json, text, type Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { renderPage, renderRef } from './renderings.ts'

export function listBranches({ engine, query, repository }: Exchange): Answer {
  const page = { ...query.page(), showHidden: query.flag('show_hidden') ?? false }
  return renderPage(engine.listBranches(repository, page), (branch) => branch.name, renderRef)
}

/** Answers with the bare commit id as text: the one call of this API that does. */
export async function createBranch(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const [name, source] = [body.requiredText('name'), body.requiredText('source')]
  const hidden = body.flag('hidden') ?? false
  body.flag('force')
  try {
    const branch = await exchange.engine.createBranch({
      repository: exchange.repository,
      name,
      source,
      hidden,
    })
    return text(201, branch.commitId)
  } catch (error) {
    // Elsewhere a 400; here the real server fails in its own code.
    if (error instanceof EngineError && error.reason === 'uncommitted-ref') return failure(500, error.message)
    throw error
  }
}

export function getBranch({ engine, repository, branch }: Exchange): Answer {
  return json(200, renderRef(engine.getBranch(repository, branch)))
}

export async function deleteBranch({ engine, query, repository, branch }: Exchange): Promise<Answer> {
  query.flag('force')
  await engine.deleteBranch(repository, branch)
  return empty(204)
}

export async function resetBranch(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const type = body.requiredText('type')
  const path = body.text('path')
  body.flag('force')
  await exchange.engine.resetUncommitted(exchange.repository, exchange.branch, readReset(type, path))
  return empty(204)
}

export async function hardResetBranch({ engine, query, repository, branch }: Exchange): Promise<Answer> {
  const ref = query.required('ref')
  query.flag('force')
  await engine.hardReset({ repository, branch, ref })
  return empty(204)
}

export function listTags({ engine, query, repository }: Exchange): Answer {
  return renderPage(engine.listTags(repository, query.page()), (tag) => tag.name, renderRef)
}

export async function createTag(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const [name, ref] = [body.requiredText('id'), body.requiredText('ref')]
  body.flag('force')
  return json(201, renderRef(await exchange.engine.createTag({ repository: exchange.repository, name, ref })))
}

export function getTag(exchange: Exchange): Answer {
  return json(200, renderRef(exchange.engine.getTag(exchange.repository, exchange.segment('tag'))))
}

export async function deleteTag(exchange: Exchange): Promise<Answer> {
  exchange.query.flag('force')
  await exchange.engine.deleteTag(exchange.repository, exchange.segment('tag'))
  return empty(204)
}

function readReset(type: string, path: string | undefined): ResetRequest {
  if (type === 'reset') return { type }
  if (type !== 'object' && type !== 'common_prefix') {
    throw new HttpProblem(
      400,
      'request body has an error: Error at "/type": value is not one of the allowed values ["object","common_prefix","reset"]',
    )
  }
  if (path === undefined || path === '')
    throw new HttpProblem(400, 'argument path: missing path: required value')
  return { type, path }
}
