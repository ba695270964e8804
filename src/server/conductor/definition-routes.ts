/** Task and workflow definitions: registered, read, replaced. */

import type { Context, Hono } from 'hono'
import { InvalidError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import { CONDUCTOR_PAYLOAD_MAX_BYTES } from '../../worker/limits.ts'
import { readJsonBody } from '../http/read-body.ts'
import { refusal } from './refusals.ts'
import type { ServedQueue } from './served-queue.ts'

export function addDefinitionRoutes(app: Hono, { definitions }: ServedQueue): void {
  app.post('/api/metadata/taskdefs', async (asked) => {
    for (const document of listOf(await bodyOf(asked))) await definitions.writeTask(named(document))
    return asked.body(null, 200)
  })
  app.put('/api/metadata/taskdefs', async (asked) => {
    const document = named(await bodyOf(asked))
    if ((await definitions.readTask(document.name)) === undefined) return missing('task', document.name)
    await definitions.writeTask(document)
    return asked.body(null, 200)
  })
  app.get('/api/metadata/taskdefs/:name', async (asked) => {
    const name = asked.req.param('name')
    const found = await definitions.readTask(name)
    return found === undefined ? missing('task', name) : asked.json(found)
  })
  app.post('/api/metadata/workflow', async (asked) => {
    const document = named(await bodyOf(asked))
    const version = versionOf(document)
    const exists = (await definitions.readWorkflow(document.name, version)) !== undefined
    if (exists && asked.req.query('overwrite') !== 'true')
      return refusal(409, `Workflow with ${document.name}.${version} already exists!`)
    await definitions.writeWorkflow(document)
    return asked.body(null, 200)
  })
  app.put('/api/metadata/workflow', async (asked) => {
    const documents = listOf(await bodyOf(asked)).map(named)
    for (const document of documents) await definitions.writeWorkflow(document)
    return asked.json({ bulkErrorResults: {}, bulkSuccessfulResults: documents.map(({ name }) => name) })
  })
  app.get('/api/metadata/workflow/:name', async (asked) => {
    const name = asked.req.param('name')
    const version = asked.req.query('version')
    const found = await definitions.readWorkflow(name, version === undefined ? undefined : Number(version))
    return found === undefined ? missing('workflow', name) : asked.json(found)
  })
}

export function versionOf({ version }: JsonObject): number {
  return typeof version === 'number' ? version : 1
}

function named(document: unknown): JsonObject & { readonly name: string } {
  const name: unknown = (document as JsonObject | null)?.['name']
  if (typeof name === 'string' && name !== '') return document as JsonObject & { readonly name: string }
  throw new InvalidError('api/missing-field', 'read the definition: it has no name', {
    next: 'Give it a name.',
  })
}

function listOf(body: unknown): readonly unknown[] {
  if (Array.isArray(body)) return body
  throw new InvalidError('api/wrong-type', 'read the definitions: they are not a list', {
    next: 'Send a list of definitions.',
  })
}

function bodyOf(asked: Context): Promise<unknown> {
  return readJsonBody(asked.req.raw, CONDUCTOR_PAYLOAD_MAX_BYTES)
}

function missing(what: string, name: string): Response {
  return refusal(404, `No such ${what} definition: ${name}`)
}
