// Writes the types of openapi/*.yaml to where they are used. `--check` writes nothing and fails when a file is stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'

const CONTRACTS = [
  { source: 'openapi/lakefs.yaml', target: 'src/lakefs/generated/lakefs-api.ts' },
  { source: 'openapi/conductor.yaml', target: 'src/conductor/generated/conductor-api.ts' },
  { source: 'openapi/perago.yaml', target: 'src/client/generated/perago-api.ts' },
]

const check = process.argv.includes('--check')
let stale = 0
for (const { source, target } of CONTRACTS) {
  const ast = await openapiTS(new URL(`../${source}`, import.meta.url), { immutable: true })
  const text = `// Generated from ${source} by scripts/generate.mjs. Never edited by hand.\n\n${astToString(ast)}`
  const path = fileURLToPath(new URL(`../${target}`, import.meta.url))
  const written = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  if (written === text) continue
  if (check) {
    stale += 1
    console.error(`${target} is stale: run "npm run generate" after a change of ${source}`)
    continue
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  console.log(`wrote ${target}`)
}
if (stale > 0) process.exitCode = 1
