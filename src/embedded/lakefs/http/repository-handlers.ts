/** Repositories and their settings. */

import { REPOSITORY_NAME } from '../engine/names.ts'
import { empty, failure, json, type Answer, type HttpProblem } from './answer.ts'
import type { Exchange, ReadBody } from './exchange.ts'
import { badBody, flag, listOf, objectOf, optional, text } from './json-body.ts'
import { renderPage, renderRepository } from './renderings.ts'

const STORAGE_NAMESPACE = /^(s3|gs|https?|mem|local|transient):\/\/.*$/

export function listRepositories({ engine, query }: Exchange): Answer {
  return renderPage(engine.listRepositories(query.page()), (repository) => repository.id, renderRepository)
}

export const NEW_REPOSITORY = objectOf({
  name: text,
  storage_namespace: text,
  default_branch: optional(text),
  read_only: optional(flag),
  sample_data: optional(flag),
})

export async function createRepository(
  exchange: Exchange,
  readBody: ReadBody<typeof NEW_REPOSITORY>,
): Promise<Answer> {
  const body = await readBody()
  const { name, storage_namespace: storageNamespace, default_branch: defaultBranch = '' } = body
  if (!REPOSITORY_NAME.test(name)) throw doesNotMatch('name', REPOSITORY_NAME)
  if (!STORAGE_NAMESPACE.test(storageNamespace)) throw doesNotMatch('storage_namespace', STORAGE_NAMESPACE)
  if (body.sample_data === true || exchange.query.flag('bare') === true) {
    return failure(501, 'sample data and bare repositories are not offered by this server')
  }
  const created = await exchange.engine.createRepository({
    name,
    storageNamespace,
    defaultBranch: defaultBranch === '' ? 'main' : defaultBranch,
    readOnly: body.read_only ?? false,
  })
  return json(201, renderRepository(created))
}

export function getRepository({ engine, repository }: Exchange): Answer {
  return json(200, renderRepository(engine.getRepository(repository)))
}

export async function deleteRepository({ engine, parts, query, repository }: Exchange): Promise<Answer> {
  query.flag('force')
  await engine.deleteRepository(repository)
  parts.runs.forget(repository)
  return empty(204)
}

export function getRepositoryMetadata({ engine, repository }: Exchange): Answer {
  engine.getRepository(repository)
  return json(200, {})
}

export function getBranchProtectionRules({ engine, repository }: Exchange): Answer {
  const { patterns, etag } = engine.getProtection(repository)
  return json(
    200,
    patterns.map((pattern) => ({ pattern })),
    { ETag: etag },
  )
}

export const PROTECTION_RULES = listOf(objectOf({ pattern: text }))

export async function setBranchProtectionRules(
  exchange: Exchange,
  readBody: ReadBody<typeof PROTECTION_RULES>,
): Promise<Answer> {
  const patterns = (await readBody()).map(({ pattern }) => pattern)
  await exchange.engine.setProtection(exchange.repository, patterns, exchange.header('if-match'))
  return empty(204)
}

/** Garbage is collected by a command here, so no repository has rules. */
export function getGCRules({ engine, repository }: Exchange): Answer {
  engine.getRepository(repository)
  return failure(404, 'not found')
}

function doesNotMatch(property: string, pattern: RegExp): HttpProblem {
  return badBody(`/${property}`, `string doesn't match the regular expression "${pattern.source}"`)
}
