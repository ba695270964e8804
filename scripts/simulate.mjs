// Runs simulated worlds by the thousand:
//   npm run simulate -- --seeds 100000 --minutes 10       random worlds, and the seed and story of the first that fails
//   npm run simulate -- --systematic 20000                all interleavings of each situation
//   npm run simulate -- --from 8841 --seeds 1 --strength hard --tell
import { pathToFileURL } from 'node:url'
import { compileSimulation } from './compile-simulation.mjs'

const { main } = await import(pathToFileURL(compileSimulation().entry).href)
process.exitCode = await main(process.argv.slice(2))
