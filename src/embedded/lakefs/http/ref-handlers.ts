/** Branches and tags. */

import { EngineError, type ResetRequest } from '../engine/engine.ts'
import { empty, failure, HttpProblem, json, text as plainText, type Answer } from './answer.ts'
import type { Exchange, ReadBody } from './exchange.ts'
import { flag, objectOf, optional, text } from './json-body.ts'
import { renderPage, renderRef } from './renderings.ts'

export function listBranches({ engine, query, repository }: Exchange): Answer {
  const page = { ...query.page(), showHidden: query.flag('show_hidden') ?? false }
  return renderPage(engine.listBranches(repository, page), (branch) => branch.name, renderRef)
}

/** Another bad name is a 400; here the real server fails in its own code. */
const NO_NAME = 'argument name: required value: validation error'

export const NEW_BRANCH = objectOf({
  name: text,
  source: text,
  hidden: optional(flag),
  force: optional(flag),
})

/** Answers with the bare commit id as text: the only call of this API that does. */
export async function createBranch(
  exchange: Exchange,
  readBody: ReadBody<typeof NEW_BRANCH>,
): Promise<Answer> {
  const { name, source, hidden = false } = await readBody()
  if (name === '') return failure(500, NO_NAME)
  try {
    const { repository } = exchange
    const branch = await exchange.engine.createBranch({ repository, name, source, hidden })
    return plainText(201, branch.commitId)
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

export const RESET = objectOf({ type: text, path: optional(text), force: optional(flag) })

export async function resetBranch(exchange: Exchange, readBody: ReadBody<typeof RESET>): Promise<Answer> {
  const { type, path } = await readBody()
  await exchange.engine.resetUncommitted(exchange.repository, exchange.branch, readReset(type, path ?? ''))
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

export const NEW_TAG = objectOf({ id: text, ref: text, force: optional(flag) })

export async function createTag(exchange: Exchange, readBody: ReadBody<typeof NEW_TAG>): Promise<Answer> {
  const { id, ref } = await readBody()
  if (id === '') return failure(500, NO_NAME)
  const tag = await exchange.engine.createTag({ repository: exchange.repository, name: id, ref })
  return json(201, renderRef(tag))
}

export function getTag(exchange: Exchange): Answer {
  return json(200, renderRef(exchange.engine.getTag(exchange.repository, exchange.segment('tag'))))
}

export async function deleteTag(exchange: Exchange): Promise<Answer> {
  exchange.query.flag('force')
  await exchange.engine.deleteTag(exchange.repository, exchange.segment('tag'))
  return empty(204)
}

function readReset(type: string, path: string): ResetRequest {
  if (type === 'reset') return { type }
  if (type !== 'object' && type !== 'common_prefix') {
    throw new HttpProblem(
      400,
      'request body has an error: Error at "/type": value is not one of the allowed values ["object","common_prefix","reset"]',
    )
  }
  // No prefix is the prefix of everything.
  if (type === 'object' && path === '')
    throw new HttpProblem(400, 'argument path: missing path: required value')
  return { type, path }
}
