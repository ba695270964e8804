/** Repositories and their settings. */

import { empty, failure, HttpProblem, json, type Answer } from './answer.ts'
import { REPOSITORY_NAME, type Exchange } from './exchange.ts'
import { Fields } from './json-body.ts'
import { renderPage, renderRepository } from './renderings.ts'

const STORAGE_NAMESPACE = /^(s3|gs|https?|mem|local|transient):\/\/.*$/

export function listRepositories({ engine, query }: Exchange): Answer {
  return renderPage(engine.listRepositories(query.page()), (repository) => repository.id, renderRepository)
}

export async function createRepository(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const name = body.requiredText('name')
  const storageNamespace = body.requiredText('storage_namespace')
  const defaultBranch = body.text('default_branch') ?? ''
  const readOnly = body.flag('read_only') ?? false
  if (!REPOSITORY_NAME.test(name)) throw doesNotMatch('name', REPOSITORY_NAME)
  if (!STORAGE_NAMESPACE.test(storageNamespace)) throw doesNotMatch('storage_namespace', STORAGE_NAMESPACE)
  if (body.flag('sample_data') === true || exchange.query.flag('bare') === true) {
    return failure(501, 'sample data and bare repositories are not offered by this server')
  }
  const created = await exchange.engine.createRepository({
    name,
    storageNamespace,
    defaultBranch: defaultBranch === '' ? 'main' : defaultBranch,
    readOnly,
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

export async function setBranchProtectionRules(exchange: Exchange): Promise<Answer> {
  const body = await exchange.body()
  if (!Array.isArray(body)) throw new HttpProblem(400, 'request body has an error: value must be an array')
  const patterns = body.map((rule, index) => new Fields(rule, `/${String(index)}`).requiredText('pattern'))
  await exchange.engine.setProtection(exchange.repository, patterns, exchange.header('if-match'))
  return empty(204)
}

/** Garbage is collected by a command of its own here, so no repository ever has rules. */
export function getGCRules({ engine, repository }: Exchange): Answer {
  engine.getRepository(repository)
  return failure(404, 'not found')
}

function doesNotMatch(property: string, pattern: RegExp): HttpProblem {
  return new HttpProblem(
    400,
    `request body has an error: doesn't match schema: Error at "/${property}": string doesn't match the regular expression "${pattern.source}"`,
  )
}
