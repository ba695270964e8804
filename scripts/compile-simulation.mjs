// Compiles the simulated world and the code that runs in it, as they are or with texts replaced in one file, and gives the
// path of the compiled entry. About a second; the tests are not part of it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

const ENTRY = 'test/simulation/main.ts'
const IMPORT = /(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g
const OPTIONS = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
}

/** @typedef {{ readonly directory: string, readonly entry: string, readonly files: readonly string[] }} Compiled */

/** @returns {Compiled} */
export function compileSimulation(others = []) {
  // Where the packages are found.
  const cache = resolve('node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, 'perago-simulation-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const files = []
  const waiting = [ENTRY, ...others].map((file) => resolve(file))
  for (const path of waiting) {
    const source = readFileSync(path, 'utf8')
    files.push(relative('.', path))
    writeCompiled(directory, relative('.', path), source)
    for (const [, name] of source.matchAll(IMPORT)) {
      const found = resolve(dirname(path), name)
      if (!waiting.includes(found)) waiting.push(found)
    }
  }
  return { directory, entry: compiledPath(directory, ENTRY), files }
}

export function writeCompiled(directory, file, source) {
  const path = compiledPath(directory, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, ts.transpileModule(source, { compilerOptions: OPTIONS, fileName: file }).outputText)
}

export function compiledPath(directory, file) {
  return join(directory, file.replace(/\.ts$/, '.js'))
}
