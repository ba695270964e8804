// Takes fences, checks and retry rules out of the code, one at a time and in a copy, and shows that a simulated world fails
// without each (test/simulation/mutations.ts):
//   npm run mutate                  all of them
//   npm run mutate -- --only NAME   those whose name contains this; may be given several times
//   npm run mutate -- --share 3/8   the third of eight parts
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { compiledPath, compileSimulation, writeCompiled } from './compile-simulation.mjs'

const RUN_MS = 600_000
/** The first that fails is enough, so what fails soon comes first. */
const RUNS = [
  ['--systematic', '--worlds', '30'],
  ['--seeds', '100'],
  ['--systematic', '--worlds', '300'],
  ['--seeds', '900', '--from', '101'],
]

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [''] },
    share: { type: 'string', default: '1/1' },
  },
})
const [part, parts] = values.share.split('/').map(Number)
const { directory, entry, files } = compileSimulation(['test/simulation/mutations.ts'])
const { MUTATIONS } = await import(
  pathToFileURL(compiledPath(directory, 'test/simulation/mutations.ts')).href
)
const chosen = MUTATIONS.filter(
  ({ name }, index) => values.only.some((text) => name.includes(text)) && index % parts === part - 1,
)
// Nothing fails without a mutation, or the rest would say nothing.
if (values.only.includes('') && parts === 1) {
  const control = noticedBy()
  if (control !== undefined) throw new Error(`the code as it is fails: ${control}`)
}
const survivors = chosen.filter((mutation) => !isNoticed(mutation))
console.log(`${chosen.length - survivors.length} of ${chosen.length} mutations are noticed`)
process.exitCode = survivors.length === 0 && chosen.length > 0 ? 0 : 1

function isNoticed({ name, file, text, without }) {
  const source = readFileSync(file, 'utf8')
  const times = source.split(text).length - 1
  if (!files.includes(file)) throw new Error(`mutate "${name}": ${file} is not part of a simulated world`)
  if (times !== 1) throw new Error(`mutate "${name}": ${file} has the text ${times} times, not once: ${text}`)
  writeCompiled(
    directory,
    file,
    source.replace(text, () => without),
  )
  try {
    const startMs = performance.now()
    const noticed = noticedBy()
    const seconds = Math.round((performance.now() - startMs) / 1_000)
    const told = noticed === undefined ? `NOT NOTICED  ${name}` : `noticed      ${name}: ${noticed}`
    console.log(`${told} (${seconds} s)`)
    return noticed !== undefined
  } finally {
    writeCompiled(directory, file, source)
  }
}

/** What did not hold, in a process of its own; `undefined`: all of it held. */
function noticedBy() {
  const script = `
    const { main } = await import(${JSON.stringify(pathToFileURL(entry).href)})
    for (const options of ${JSON.stringify(RUNS)}) if ((await main([...options, '--brief'])) !== 0) process.exit(1)`
  const { status, signal, stdout, stderr } = spawnSync(
    process.execPath,
    ['--max-semi-space-size=64', '--input-type=module', '-e', script],
    { encoding: 'utf8', timeout: RUN_MS },
  )
  if (status === 0) return undefined
  // Says nothing: the machine may be busy.
  if (signal !== null) throw new Error(`the worlds were not done within ${RUN_MS} ms`)
  const lines = `${stdout}\n${stderr}`.split('\n')
  return (
    lines.find((line) => line.startsWith('did not hold')) ??
    lines.find((line) => line.includes('Error')) ??
    'no end'
  )
}
