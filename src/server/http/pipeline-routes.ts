/** Pipelines over HTTP: registered, listed, read. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import type { PipelineDocument } from '../../engine/definitions/document.ts'
import { PIPELINE_FILE_MAX_BYTES } from '../../engine/limits.ts'
import { API_PAGE_EVENTS, API_PAGE_MAX_EVENTS } from '../limits.ts'
import { decodeCursor, encodeCursor } from './cursors.ts'
import type { EngineRoutesParts } from './engine-routes.ts'
import type { HttpEnvironment } from './environment.ts'
import { openCallerEngine } from './open-caller-engine.ts'
import { readJsonBody } from './read-body.ts'
import { once, readQuery, wholeNumber } from './read-request.ts'
import { readPipeline } from './read-start.ts'

/** Sorts as the list does. */
function placeOf({ name, version }: { readonly name: string; readonly version: number }): string {
  return `${name}:${String(version).padStart(12, '0')}`
}

const PIPELINE_AFTER = /^[\w.-]{1,256}:\d{12}$/

export function addPipelineRoutes(
  app: Hono<HttpEnvironment>,
  { engines }: Pick<EngineRoutesParts, 'engines'>,
): void {
  app.post('/pipelines', async (asked) => {
    const { control, schedules } = await openCallerEngine(engines, asked, 'register pipelines')
    readQuery(asked.req.url, {})
    const document = await readJsonBody(asked.req.raw, PIPELINE_FILE_MAX_BYTES)
    const graph = readPipeline(document)
    await control.registerGraph(graph)
    // Of the right form, because it was read as a pipeline.
    await schedules.register(graph.name, (document as PipelineDocument).schedules ?? {})
    return asked.json({ name: graph.name, version: graph.version }, 201)
  })
  app.get('/pipelines', async (asked) => {
    const { after, limit = API_PAGE_EVENTS } = readQuery(asked.req.url, {
      after: once(z.string()),
      limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS })),
    })
    const { reader } = await openCallerEngine(engines, asked, 'read executions and pipelines')
    const from = decodeCursor(after, PIPELINE_AFTER) ?? ''
    const left = (await reader.listGraphs()).filter((each) => placeOf(each) > from)
    const pipelines = left.slice(0, limit)
    const last = left.length > limit ? pipelines.at(-1) : undefined
    return asked.json({ pipelines, ...defined({ next_after: encodeCursor(last && placeOf(last)) }) })
  })
  app.get('/pipelines/:name', async (asked) => {
    const { version } = readQuery(asked.req.url, {
      version: once(wholeNumber({ least: 0, most: 999_999_999_999 })),
    })
    const { reader } = await openCallerEngine(engines, asked, 'read executions and pipelines')
    const graph = await reader.readGraph(asked.req.param('name'), version)
    return asked.json({ name: graph.name, version: graph.version, graph })
  })
}
