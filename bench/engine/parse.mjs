// From the text of a pipeline file with 500 units to the analysed graph that scheduling uses.
import { analyseGraph, readPipelineText, requireSoundGraph } from '../../dist/perago-engine.js'
import { printTable, quantile } from '../support/figures.mjs'

const UNITS = 500
const WIDTH = 10
const ROUNDS = 60

export async function benchParse() {
  const document = pipelineOf()
  const rows = [
    ['YAML', yamlOf(document)],
    ['JSON', JSON.stringify(document, null, 2)],
  ].map(([name, text]) => {
    for (let round = 0; round < 10; round++) parse(text)
    const parts = { read: [], check: [], analyse: [], all: [] }
    const before = process.cpuUsage()
    for (let round = 0; round < ROUNDS; round++)
      for (const [part, ms] of Object.entries(parse(text))) parts[part].push(ms)
    const { user, system } = process.cpuUsage(before)
    return [
      name,
      `${Math.round(text.length / 1024)} KiB`,
      ...['read', 'check', 'analyse'].map((part) => quantile(parts[part], 0.5)),
      quantile(parts.all, 0.5),
      quantile(parts.all, 0.95),
      (user + system) / 1000 / ROUNDS,
    ]
  })
  console.log(`## A pipeline file of ${UNITS} units: ms, median of ${ROUNDS}\n`)
  printTable(['file', 'size', 'read', 'check', 'analyse', 'all', 'all, p95', 'CPU'], rows)
}

function parse(text) {
  const started = performance.now()
  const { pipeline, problems } = readPipelineText(text)
  if (pipeline === undefined) throw new Error(`read the pipeline: ${problems[0].message}`)
  const read = performance.now()
  requireSoundGraph(pipeline.graph)
  const checked = performance.now()
  analyseGraph(pipeline.graph)
  const end = performance.now()
  return { read: read - started, check: checked - read, analyse: end - checked, all: end - started }
}

/** Ten wide, each unit after three of the layer before it. */
function pipelineOf() {
  const units = {}
  for (let index = 0; index < UNITS; index++) {
    const first = Math.floor(index / WIDTH) * WIDTH - WIDTH
    const after = first < 0 ? [] : [0, 1, 2].map((edge) => `unit-${first + ((index + edge) % WIDTH)}`)
    units[`unit-${index}`] = {
      task: 'orders.clean',
      params: { table: `table-${index}`, day: '${workflow.input.day}' },
      ...(after.length === 0 ? {} : { after }),
    }
  }
  return { name: 'bench', input: { day: { default: '2026-01-01' } }, units }
}

function yamlOf({ name, units }) {
  const lines = [`name: ${name}`, "input: { day: { default: '2026-01-01' } }", 'units:']
  for (const [key, { task, params, after }] of Object.entries(units)) {
    lines.push(`  ${key}:`, `    task: ${task}`, `    params:`, `      table: ${params.table}`)
    lines.push(`      day: '${params.day}'`)
    if (after !== undefined) lines.push(`    after: [${after.join(', ')}]`)
  }
  return `${lines.join('\n')}\n`
}
