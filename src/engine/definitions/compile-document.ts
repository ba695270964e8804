/** Makes the graph of a pipeline document, and finds what is wrong with it. Pure. */

import { defined } from '../../base/defined.ts'
import type { JsonObject } from '../../base/json.ts'
import type { Graph, Policy, Unit, Verification } from '../graph/graph.ts'
import { findGraphProblems } from '../graph/problems.ts'
import { buildUnit } from './build-unit.ts'
import { checkMeaning } from './check-meaning.ts'
import type { PipelineDocument, PolicyDocument } from './document.ts'
import { checkDocumentShape } from './document-shape.ts'
import { seconds } from './durations.ts'
import { expandTemplates, type ExpandedDocument } from './expand-templates.ts'
import { findEdges } from './find-edges.ts'
import { fillInstanceOutputs } from './instance-outputs.ts'
import { findGraphWriters, type KnownTasks } from './graph-writers.ts'
import type { Path, ShapeProblem } from './shape.ts'
import { findPlaces, type Place, type Places } from './unit-places.ts'

/** Something wrong in a document, and where. */
export type DocumentProblem = ShapeProblem

export type CompiledDocument =
  | { readonly graph: Graph; readonly problems: readonly []; readonly paths: ReadonlyMap<string, Path> }
  | { readonly graph: undefined; readonly problems: readonly DocumentProblem[] }

/** Everything that is wrong at once; a graph only if nothing is. `tasks`: with them, parallel writers are looked for too. */
export function compileDocument(value: unknown, tasks?: KnownTasks): CompiledDocument {
  const problems = checkDocumentShape(value)
  // Of the right form, because nothing was found.
  const compiled: CompiledDocument =
    problems.length > 0 ? { graph: undefined, problems } : compileChecked(value as PipelineDocument)
  if (compiled.graph === undefined || tasks === undefined) return compiled
  const { graph, paths } = compiled
  const conflicts = findGraphWriters(graph, tasks).map(({ units: [unit], message }) => ({
    path: paths.get(unit) ?? ['units'],
    message,
    isAboutKey: true,
  }))
  return conflicts.length > 0 ? { graph: undefined, problems: conflicts } : compiled
}

function compileChecked(written: PipelineDocument): CompiledDocument {
  const expanded = expandTemplates(written)
  const filled = fillInstanceOutputs(written, expanded)
  const places = findPlaces(filled.units, expanded.instances)
  const document = { ...written, ...defined({ output: filled.output }) }
  const graph = buildGraph(document, places, expanded)
  const paths = new Map(places.all.map(({ placed }) => [placed.name, placed.path]))
  const problems = [
    ...expanded.problems,
    ...filled.problems,
    ...places.problems,
    ...checkMeaning({ document, places, instances: expanded.instances }),
    // Where a name is used twice, edges lead to the wrong unit.
    ...(places.problems.length > 0 ? [] : checkGraph(graph, paths)),
  ]
  return problems.length > 0 ? { graph: undefined, problems } : { graph, problems: [], paths }
}

/** What can be seen in the graph only, such as cycles. */
function checkGraph(graph: Graph, paths: ReadonlyMap<string, Path>): readonly DocumentProblem[] {
  // How large the pool is depends on the engine that runs it.
  const anyPool = { cpu: Infinity, memoryBytes: Infinity, gpu: Infinity }
  return findGraphProblems(graph, { pool: anyPool }).map(({ unit, message }) => ({
    path: paths.get(unit) ?? ['units'],
    message,
    isAboutKey: true,
  }))
}

function buildGraph(
  document: PipelineDocument,
  places: Places,
  { instances }: Pick<ExpandedDocument, 'instances'>,
): Graph {
  const edges = findEdges(places, instances)
  const { name, version = 1, input = {}, timeout, onTimeout, restartable = true, output, policy } = document
  return {
    name,
    version,
    units: buildRow(places, edges, []),
    inputTemplate: defaultsOf(input),
    outputParameters: output,
    restartable,
    timeoutSeconds: timeout === undefined ? 0 : seconds(timeout),
    // A pipeline without a time limit has nothing to end.
    timeoutPolicy: timeout === undefined || onTimeout === 'alert' ? 'ALERT_ONLY' : 'TIME_OUT_WF',
    ...(policy === undefined ? {} : { policy: buildPolicy(policy) }),
  }
}

function buildPolicy({ onFailure = 'fail', attempts = 1, recover, verify }: PolicyDocument): Policy {
  return {
    ...{ onFailure, attempts },
    ...(recover === undefined ? {} : { recover: { times: 1, ...recover } }),
    ...(verify === undefined ? {} : { verify: buildVerification(verify) }),
  }
}

function buildVerification(verify: NonNullable<PolicyDocument['verify']>): Verification {
  if ('condition' in verify) return { expression: verify.condition }
  const { task: name, input: inputParameters } = verify
  return { name, ...defined({ inputParameters }) }
}

/** The units directly in one loop, or outside all loops. */
function buildRow(
  places: Places,
  edges: ReadonlyMap<string, readonly string[]>,
  loops: readonly string[],
): readonly Unit[] {
  return places.all
    .filter((place) => isDirectlyIn(place, loops))
    .map(({ placed, onlyIn }) =>
      buildUnit(placed.unit, {
        name: placed.name,
        after: edges.get(placed.name) ?? [],
        onlyIn,
        inside: placed.rows.some((row) => row.case === undefined)
          ? buildRow(places, edges, [...loops, placed.name])
          : [],
      }),
    )
}

function isDirectlyIn(place: Place, loops: readonly string[]): boolean {
  return place.loops.length === loops.length && place.loops.every((loop, index) => loop === loops[index])
}

function defaultsOf(input: NonNullable<PipelineDocument['input']>): JsonObject {
  return Object.fromEntries(
    Object.entries(input).flatMap(([name, { default: value }]) =>
      value === undefined ? [] : [[name, value] as const],
    ),
  )
}
