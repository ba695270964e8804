// Checking and analysing graphs of 500 units, from their JSON; adding a unit; an analysis that is kept.
import { AnalysisCache, addUnit, analyseGraph, requireSoundGraph } from '../../dist/perago-engine.js'
import { printTable, quantile } from '../support/figures.mjs'

const UNITS = 500
const ROUNDS = 400

export function benchAnalysis() {
  const shapes = {
    chain: chain(),
    'ten wide, each after three': layered(10, 3),
    'fifty wide, each after all before': layered(50, 50),
    'no edges': layered(UNITS, 0),
  }
  const rows = Object.entries(shapes).map(([name, graph]) => {
    const text = JSON.stringify(graph)
    const fresh = measure(() => {
      const read = JSON.parse(text)
      requireSoundGraph(read)
      return analyseGraph(read)
    })
    const before = analyseGraph({ ...graph, units: graph.units.slice(0, -1) })
    const added = measure(() => addUnit(before, graph.units.at(-1)))
    const cache = new AnalysisCache()
    cache.analyse(graph)
    const kept = measure(() => cache.analyse(JSON.parse(text)))
    return [
      name,
      ...[fresh, added, kept].flatMap(({ times, cpuMs }) => [
        quantile(times, 0.5),
        quantile(times, 0.95),
        cpuMs,
      ]),
    ]
  })
  console.log(`## ${UNITS} units: ms, median, 95th percentile and mean CPU time of ${ROUNDS}\n`)
  printTable(
    [
      'shape',
      'read, check, analyse',
      'p95',
      'CPU',
      'add a unit',
      'p95',
      'CPU',
      'read, find the kept analysis',
      'p95',
      'CPU',
    ],
    rows,
  )
}

/** Other programs lengthen the times, not the CPU time; that includes the one of the garbage collector. */
function measure(run) {
  for (let round = 0; round < 50; round++) run()
  const times = []
  const before = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now()
    run()
    times.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(before)
  return { times, cpuMs: (user + system) / 1000 / ROUNDS }
}

function chain() {
  return graphOf(Array.from({ length: UNITS }, (_, index) => unit(index, index === 0 ? [] : [index - 1])))
}

/** Layers of `width`, each unit after `edges` of the layer before it. */
function layered(width, edges) {
  const units = Array.from({ length: UNITS }, (_, index) => {
    const first = Math.floor(index / width) * width - width
    const before =
      first < 0 ? [] : Array.from({ length: edges }, (_, edge) => first + ((index + edge) % width))
    return unit(index, [...new Set(before)])
  })
  return graphOf(units)
}

function unit(index, after) {
  return {
    type: 'SIMPLE',
    name: 'task',
    taskReferenceName: `unit-${index}`,
    inputParameters: { rows: '${workflow.input.rows}', table: `table-${index}` },
    after: after.map((each) => `unit-${each}`),
    planning: { expectedMs: 1000 + index, complexity: 0.5, demand: { cpu: 1 } },
  }
}

function graphOf(units) {
  return {
    name: 'bench',
    version: 1,
    units,
    inputTemplate: {},
    restartable: true,
    timeoutSeconds: 0,
    timeoutPolicy: 'ALERT_ONLY',
  }
}
