// Compiles snippets against the sources with the project's own settings.
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { PROJECT_ROOT } from './source-tree.ts'

/** The compiler's codes for each snippet, as if it stood in the project's root; one program for them all. */
export function compileSnippets(snippets: readonly string[]): number[][] {
  const texts = new Map(
    snippets.map((text, index) => [join(PROJECT_ROOT, `snippet-${String(index)}.ts`), text]),
  )
  const program = createProgram([...texts.keys()], texts)
  return [...texts.keys()].map((path) => {
    const file = program.getSourceFile(path)
    return ts.getPreEmitDiagnostics(program, file).map(({ code }) => code)
  })
}

/** Every name a module exports, values and types apart. */
export function listExports(paths: readonly string[]): Map<string, { values: string[]; types: string[] }> {
  const program = createProgram(
    paths.map((path) => join(PROJECT_ROOT, path)),
    new Map(),
  )
  const checker = program.getTypeChecker()
  return new Map(
    paths.map((path) => {
      const file = program.getSourceFile(join(PROJECT_ROOT, path))
      const module = file === undefined ? undefined : checker.getSymbolAtLocation(file)
      const names = { values: [] as string[], types: [] as string[] }
      for (const symbol of module === undefined ? [] : checker.getExportsOfModule(module)) {
        const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
        names[target.flags & ts.SymbolFlags.Value ? 'values' : 'types'].push(symbol.name)
      }
      return [path, { values: names.values.sort(), types: names.types.sort() }]
    }),
  )
}

function createProgram(roots: readonly string[], texts: ReadonlyMap<string, string>): ts.Program {
  const configPath = join(PROJECT_ROOT, 'tsconfig.json')
  const read = ts.readConfigFile(configPath, (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(read.config, ts.sys, dirname(configPath))
  const host = ts.createCompilerHost(options)
  const onDisk = ts.createCompilerHost(options)
  host.readFile = (path) => texts.get(path) ?? onDisk.readFile(path)
  host.fileExists = (path) => texts.has(path) || onDisk.fileExists(path)
  return ts.createProgram([...roots], options, host)
}
