// Looks at every branch that is named, repairs what is safe to repair without asking, and lists what is left to decide.
//   node nightly.mjs REPOSITORY/BRANCH...
// Exit code 0: nothing is left to decide; 3: something is.
import { loadConfiguration, recover, withRecovery } from 'perago/recovery'

const { configuration } = await loadConfiguration({ directory: process.cwd(), environment: process.env })
const root = process.env.WORKER_ROOT ?? '.perago/work'
let undecided = 0

await withRecovery(configuration, { root }, async (world) => {
  for (const target of process.argv.slice(2)) {
    for (const { situation, isNormal, action, done, offered } of await recover(world, { target })) {
      if (done.length > 0) console.log(`${target}: ${situation}, done: ${action}`)
      else if (isNormal) console.log(`${target}: ${situation}`)
      else {
        undecided += 1
        const names = offered.map((offer) => offer.action).join(', ')
        console.log(`${target}: ${situation}, to be decided: ${names === '' ? 'see its page' : names}`)
      }
    }
  }
})
process.exitCode = undecided === 0 ? 0 : 3
