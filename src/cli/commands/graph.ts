import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { InvalidError, messageOf } from '../../base/errors.ts'
import { drawSvg, type UnitStates } from '../../engine/graph-drawing/svg.ts'
import { drawText } from '../../engine/graph-drawing/text.ts'
import type { Graph } from '../../engine/graph/graph.ts'
import { readPipelineSource } from '../../runtime/modules/pipeline-sources.ts'
import { answer } from '../answers.ts'
import { findEngine, type EngineOptions } from '../engine-server.ts'
import type { Terminal } from '../terminal.ts'

export interface GraphOptions extends EngineOptions {
  readonly pipeline?: string
  readonly svg?: string
}

/** Shows a pipeline or an execution as text, or writes it as SVG. */
export async function drawPipeline(source: string, options: GraphOptions, terminal: Terminal): Promise<void> {
  const drawn = isExecutionId(source)
    ? await readExecution(source, options, terminal)
    : { graph: await readFileGraph(source, options, terminal) }
  const { graph, states } = drawn
  if (options.svg === undefined) {
    answer(terminal, options, states === undefined ? graph : drawn, () => drawText(graph, states))
    return
  }
  const file = resolve(terminal.directory, options.svg)
  await writeFile(file, drawSvg(graph, states)).catch((error: unknown) => {
    throw new InvalidError('cli/cannot-write', `write ${JSON.stringify(options.svg)}: ${messageOf(error)}`, {
      next: 'Name a file this user may write with --svg.',
      cause: error,
    })
  })
  answer(terminal, options, { file: options.svg }, () => `${options.svg ?? ''}\n`)
}

interface Drawn {
  readonly graph: Graph
  /** Of an execution. */
  readonly status?: string
  readonly states?: UnitStates
}

function isExecutionId(source: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(source)
}

async function readExecution(id: string, options: GraphOptions, terminal: Terminal): Promise<Drawn> {
  if (options.pipeline !== undefined) {
    throw new InvalidError('cli/bad-usage', 'read the command line: an execution has one pipeline', {
      next: 'Leave --pipeline out.',
    })
  }
  return (await findEngine(options, terminal)).ask<Drawn>(`/executions/${id}/graph`)
}

async function readFileGraph(path: string, options: GraphOptions, terminal: Terminal): Promise<Graph> {
  const { graphs, problems } = await readPipelineSource(path, { directory: terminal.directory })
  if (problems.length === 0) return choose(path, graphs, options.pipeline)
  throw new InvalidError('cli/bad-pipelines', `draw ${JSON.stringify(path)}: it cannot be read`, {
    details: { problems },
    next: 'Correct what is listed.',
  })
}

function choose(path: string, graphs: readonly Graph[], name: string | undefined): Graph {
  const [first, second] = name === undefined ? graphs : graphs.filter((graph) => graph.name === name)
  const names = graphs.map((graph) => graph.name).join(', ')
  if (first === undefined) {
    throw new InvalidError(
      'cli/no-pipelines',
      `draw the pipeline "${name ?? ''}" of ${JSON.stringify(path)}: it has ${names}`,
    )
  }
  if (second !== undefined && name === undefined) {
    throw new InvalidError(
      'cli/no-pipelines',
      `draw ${JSON.stringify(path)}: it has several pipelines: ${names}`,
      {
        next: 'Name one with --pipeline.',
      },
    )
  }
  return first
}
