// What the engine costs. `parse`, `analysis`, `growth` and `plan-space` run in this process, `transition` beside PostgreSQL; the others
// start processes of their own, and `chain` the real Conductor.
//
//   npm run bench -- engine [--parts parse,analysis,transition,growth,plan-space,chain,many,recovery,dev-start]
//     [--stores memory,sqlite,postgres] [--transitions 10000]
import { parseArgs } from 'node:util'
import { benchAnalysis } from './analysis.mjs'
import { benchChain } from './chain.mjs'
import { benchDevStart } from './dev-start.mjs'
import { benchMany } from './many.mjs'
import { benchParse } from './parse.mjs'
import { benchPlanSpace } from './plan-space.mjs'
import { benchRecovery } from './recovery.mjs'
import { benchGrowth, benchTransition } from './transition.mjs'

const PARTS = {
  parse: benchParse,
  analysis: benchAnalysis,
  transition: benchTransition,
  growth: benchGrowth,
  'plan-space': benchPlanSpace,
  chain: benchChain,
  many: benchMany,
  recovery: benchRecovery,
  'dev-start': benchDevStart,
}
const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: Object.keys(PARTS).join(',') },
    stores: { type: 'string', default: 'memory,sqlite,postgres' },
    transitions: { type: 'string', default: '10000' },
  },
})

for (const name of values.parts.split(',')) {
  const part = PARTS[name]
  if (part === undefined)
    throw new Error(`run the part "${name}": there are ${Object.keys(PARTS).join(', ')}`)
  await part({ stores: values.stores, transitions: Number(values.transitions) })
}
