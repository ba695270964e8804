/** Reads a pipeline from the text of a YAML or JSON file; every problem has its line and column. */

import { InvalidError } from '../../base/errors.ts'
import type { TaskDefinition } from '../../tasks/task-definition.ts'
import type { Graph } from '../graph/graph.ts'
import { PIPELINE_FILE_MAX_BYTES } from '../limits.ts'
import { compileDocument } from './compile-document.ts'
import type { PipelineDocument } from './document.ts'
import { parseText, type TextProblem } from './parse-text.ts'
import { printPath } from './shape.ts'

export interface PipelineFile {
  readonly document: PipelineDocument
  readonly graph: Graph
}

export interface ReadingOptions {
  /** By name. A task that is not among them counts as one that writes, if it is given a workspace. */
  readonly tasks?: ReadonlyMap<string, TaskDefinition>
}

export type PipelineFileReading =
  | { readonly pipeline: PipelineFile; readonly problems: readonly [] }
  | { readonly pipeline: undefined; readonly problems: readonly TextProblem[] }

/**
 * Everything that is wrong with the text, at once.
 *
 * ```ts
 * const { pipeline, problems } = readPipelineText(await readFile('daily.yaml', 'utf8'))
 * ```
 */
export function readPipelineText(text: string, options: ReadingOptions = {}): PipelineFileReading {
  if (Buffer.byteLength(text) > PIPELINE_FILE_MAX_BYTES)
    return refuse([
      { line: 1, column: 1, at: '', message: `it has more than ${PIPELINE_FILE_MAX_BYTES} bytes` },
    ])
  const { value, problems, locate } = parseText(text)
  if (problems.length > 0) return refuse(problems)
  const compiled = compileDocument(value, options.tasks ?? new Map())
  if (compiled.graph === undefined) {
    return refuse(
      compiled.problems.map(({ path, message, isAboutKey }) => ({
        ...locate(path, isAboutKey === true),
        at: printPath(path),
        message,
      })),
    )
  }
  return { pipeline: { document: value as PipelineDocument, graph: compiled.graph }, problems: [] }
}

/** The same, for callers that cannot continue with problems: throws `engine/bad-pipeline`, which names all of them. */
export function loadPipelineText(text: string, name: string, options?: ReadingOptions): PipelineFile {
  const { pipeline, problems } = readPipelineText(text, options)
  if (pipeline !== undefined) return pipeline
  const lines = problems.map((problem) => printFileProblem(name, problem))
  throw new InvalidError(
    'engine/bad-pipeline',
    `read the pipeline ${JSON.stringify(name)}: ${lines.join('; ')}`,
    {
      details: { problems: lines },
      next: 'Correct the file; "perago validate" shows the same.',
    },
  )
}

/** `daily.yaml:3:5: units.clean: there is no key "aftr" here; did you mean "after"?` */
export function printFileProblem(name: string, { line, column, at, message }: TextProblem): string {
  return `${name}:${line}:${column}: ${at === '' ? '' : `${at}: `}${message}`
}

function refuse(problems: readonly TextProblem[]): PipelineFileReading {
  const sorted = [...problems].sort((a, b) => a.line - b.line || a.column - b.column)
  return { pipeline: undefined, problems: sorted }
}
