// Compiles the simulated world and the code that runs in it, as they are or with texts replaced in one file, and gives the
// path of the compiled entry. What was compiled before is taken from a cache, by its text; the tests are not part of it.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const ENTRY = 'test/simulation/main.ts'
/** Types alone need no file that runs. */
const TYPES = /^(?:im|ex)port type [^;']*?from '[^']+'$/gm
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g
/** Where the packages are found. */
const CACHE = resolve('node_modules/.cache')
const COMPILED = join(CACHE, 'perago-compiled')
const OPTIONS = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
}

/** @typedef {{ readonly directory: string, readonly entry: string, readonly files: readonly string[] }} Compiled */

/** @returns {Compiled} */
export function compileSimulation(others = []) {
  mkdirSync(CACHE, { recursive: true })
  const directory = mkdtempSync(join(CACHE, 'perago-simulation-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  const files = []
  const waiting = [ENTRY, ...others].map((file) => resolve(file))
  for (const path of waiting) {
    const source = readFileSync(path, 'utf8')
    files.push(relative('.', path))
    writeCompiled(directory, relative('.', path), source)
    for (const [, name] of source.replaceAll(TYPES, '').matchAll(IMPORT)) {
      const found = resolve(dirname(path), name)
      if (!waiting.includes(found)) waiting.push(found)
    }
  }
  return { directory, entry: compiledPath(directory, ENTRY), files }
}

export function writeCompiled(directory, file, source) {
  const path = compiledPath(directory, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, compile(source))
}

function compile(source) {
  const key = createHash('sha256')
    .update(`${ts.version}${JSON.stringify(OPTIONS)}${source}`)
    .digest('hex')
  const known = join(COMPILED, `${key}.js`)
  if (existsSync(known)) return readFileSync(known, 'utf8')
  const { outputText } = ts.transpileModule(source, { compilerOptions: OPTIONS })
  mkdirSync(COMPILED, { recursive: true })
  // In one step: another process may read it.
  writeFileSync(`${known}.${process.pid}`, outputText)
  renameSync(`${known}.${process.pid}`, known)
  return outputText
}

export function compiledPath(directory, file) {
  return join(directory, file.replace(/\.ts$/, '.js'))
}
