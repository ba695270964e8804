/** Reads what a request wants to start, or to register. */

import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import { compileDocument } from '../../engine/definitions/compile-document.ts'
import { printPath } from '../../engine/definitions/shape.ts'
import type { Graph } from '../../engine/graph/graph.ts'
import type { OneStart } from '../../engine/host/start-once.ts'
import { PIPELINE_FILE_MAX_BYTES } from '../../engine/limits.ts'
import { API_TEXT_MAX_CHARS } from '../limits.ts'
import { jsonObject, readFields, textOf } from './read-request.ts'

const START = z.strictObject({
  pipeline: z.string().optional(),
  version: z.number().optional(),
  definition: jsonObject().optional(),
  input: jsonObject().optional(),
  priority: z.number().optional(),
  correlation_id: textOf({ least: 1, most: API_TEXT_MAX_CHARS }).optional(),
})

/** Throws what the body or its pipeline has wrong. */
export function readStart(body: unknown): OneStart {
  const fields = readFields('the start', START, body)
  const { pipeline, version, definition, input, priority, correlation_id: correlationId } = fields
  requireRange('version', version, 999_999_999_999)
  requireRange('priority', priority, 99)
  const how = defined({ input, priority, correlationId })
  if (definition !== undefined && pipeline === undefined && version === undefined)
    return { graph: readPipeline(definition, 'definition'), ...how }
  if (pipeline !== undefined && definition === undefined)
    return { name: pipeline, ...how, ...defined({ version }) }
  throw new InvalidError(
    'api/missing-field',
    'read the start: it needs either "pipeline", the name of a registered one, or "definition", a pipeline itself',
    { next: 'Give one of the two; "version" belongs to "pipeline".' },
  )
}

/** The graph of a pipeline that was sent. Throws `engine/bad-pipeline`, which names everything that is wrong. */
export function readPipeline(document: unknown, at = ''): Graph {
  if (Buffer.byteLength(JSON.stringify(document)) > PIPELINE_FILE_MAX_BYTES)
    throw new InvalidError(
      'api/body-too-large',
      `read the pipeline: it has more than ${PIPELINE_FILE_MAX_BYTES} bytes`,
      { next: 'Split it into several pipelines.' },
    )
  const { graph, problems } = compileDocument(document, new Map())
  if (graph !== undefined) return graph
  const named = problems.map(({ path, message }) => ({
    path: [at, printPath(path)].filter((part) => part !== '').join('.'),
    problem: message,
  }))
  const shown = named.map(({ path, problem }) => (path === '' ? problem : `${path}: ${problem}`)).join('; ')
  throw new InvalidError('engine/bad-pipeline', `read the pipeline: ${shown}`, {
    details: { problems: named },
    next: 'Correct it; "perago validate" shows the same for a file.',
  })
}

function requireRange(path: string, value: number | undefined, most: number): void {
  if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= most)) return
  const problem = `must be a whole number from 0 to ${most}`
  throw new InvalidError('api/wrong-type', `read the start: "${path}" ${problem}`, {
    details: { problems: [{ path, problem }] },
    next: 'Correct the request; see /openapi.yaml.',
  })
}
