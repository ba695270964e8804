/** Analyses of graphs that were analysed before. */

import { createHash } from 'node:crypto'
import { BoundedMap } from '../../base/bounded-map.ts'
import type { Json } from '../../base/json.ts'
import { ANALYSES_KEPT_MAX } from '../limits.ts'
import { analyseGraph, type AnalysisOptions, type GraphAnalysis } from './analysis.ts'
import type { Graph } from './graph.ts'
import { requireSoundGraph } from './problems.ts'

/** The SHA-256 of the graph as JSON. The order of its fields and fields that are `undefined` make no difference. */
export function digestGraph(graph: Graph): string {
  return createHash('sha256')
    .update(canonicalJson(graph as unknown as Json))
    .digest('hex')
}

interface Kept {
  readonly analysis: GraphAnalysis
  readonly options: AnalysisOptions
}

/**
 * Checks and analyses each graph once, until its history, the pool or the predictor is another value.
 *
 * ```ts
 * const cache = new AnalysisCache()
 * const analysis = cache.analyse(graph, { history })
 * ```
 */
export class AnalysisCache {
  readonly #byDigest = new BoundedMap<string, Kept>({
    max: ANALYSES_KEPT_MAX,
    evict: 'least-recently-used',
  })
  /** An execution has the same graph from its start to its end; its digest is computed once. */
  readonly #digests = new WeakMap<Graph, string>()

  readonly #digestsOfTexts = new BoundedMap<string, string>({
    max: ANALYSES_KEPT_MAX,
    evict: 'least-recently-used',
  })

  /** Throws what `requireSoundGraph` throws. */
  analyse(graph: Graph, options: AnalysisOptions = {}): GraphAnalysis {
    return this.#analyse(graph, options, () =>
      requireSoundGraph(graph, options.pool === undefined ? {} : { pool: options.pool }),
    )
  }

  /** Of a graph that was checked when it was started: the pool may have become smaller since. */
  analyseChecked(graph: Graph, options: AnalysisOptions): GraphAnalysis {
    return this.#analyse(graph, options, () => undefined)
  }

  #analyse(graph: Graph, options: AnalysisOptions, check: () => void): GraphAnalysis {
    const digest = this.#digestOf(graph)
    const known = this.#byDigest.get(digest)
    if (known !== undefined && isSameBasis(known.options, options)) return known.analysis
    check()
    const analysis = analyseGraph(graph, options)
    this.#byDigest.set(digest, { analysis, options })
    return analysis
  }

  #digestOf(graph: Graph): string {
    const known = this.#digests.get(graph)
    if (known !== undefined) return known
    // Sorting the fields takes most of the time: a graph read from a store again has the same text.
    const text = createHash('sha256').update(JSON.stringify(graph)).digest('hex')
    const digest = this.#digestsOfTexts.getOrAdd(text, () => digestGraph(graph))
    this.#digests.set(graph, digest)
    return digest
  }
}

function isSameBasis(one: AnalysisOptions, other: AnalysisOptions): boolean {
  return one.history === other.history && one.pool === other.pool && one.predict === other.predict
}

function canonicalJson(value: Json): string {
  return JSON.stringify(value, (_, each: Json) =>
    each === null || typeof each !== 'object' || Array.isArray(each)
      ? each
      : Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1))),
  )
}
