// What dist/ was built from. The build writes a hash of each source; tests that run dist/ compare them.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const STAMP = '.cache/dist-sources.json'
const SETTINGS = ['package.json', 'tsconfig.json', 'tsconfig.build.json']

/** Path → hash, of everything that decides what dist/ holds. */
export function hashSources(root) {
  const sources = readdirSync(join(root, 'src'), { recursive: true })
    .filter((path) => /\.(tsx?|css|html|svg)$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
  return Object.fromEntries(
    [...SETTINGS, ...sources].sort().map((path) => [path, hashFile(join(root, path))]),
  )
}

export function writeStamp(root, hashes) {
  mkdirSync(dirname(join(root, STAMP)), { recursive: true })
  writeFileSync(join(root, STAMP), JSON.stringify(hashes, null, 1))
}

/** Why dist/ must not be tested, as one sentence; undefined when it was built from the present sources. */
export function whyStale(root) {
  const differing = firstDifference(root)
  return differing && `dist/ is not what the sources say: ${differing}. Run \`npm run build\` first.`
}

function firstDifference(root) {
  if (!existsSync(join(root, 'dist'))) return 'it is missing'
  if (!existsSync(join(root, STAMP))) return 'nothing says what it was built from'
  const built = JSON.parse(readFileSync(join(root, STAMP), 'utf8'))
  const present = hashSources(root)
  const path = Object.keys({ ...built, ...present }).find((path) => built[path] !== present[path])
  return path && `${path} has changed since it was built`
}

function hashFile(path) {
  return createHash('sha256').update(readFileSync(path)).digest('base64url')
}
