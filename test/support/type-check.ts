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

export interface DescribedMethod {
  /** With the members that lead to it: `events.has`. */
  readonly name: string
  readonly parameters: readonly string[]
  /** The text of every type in its parameters, members of objects included. */
  readonly mentions: readonly string[]
  readonly returns: string
}

/** The methods of exported types and of the objects they hold, by name. */
export function describeTypes(
  path: string,
  names: readonly string[],
): ReadonlyMap<string, readonly DescribedMethod[]> {
  const program = createProgram([join(PROJECT_ROOT, path)], new Map())
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(join(PROJECT_ROOT, path))
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file)
  return new Map(
    names.map((name) => {
      const symbol = module === undefined ? undefined : checker.tryGetMemberInModuleExports(name, module)
      if (symbol === undefined) throw new Error(`${path} exports no ${name}`)
      const type = checker.getDeclaredTypeOfSymbol(
        symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
      )
      return [name, listMethods(checker, type, '').sort((left, right) => (left.name < right.name ? -1 : 1))]
    }),
  )
}

function listMethods(checker: ts.TypeChecker, type: ts.Type, prefix: string): DescribedMethod[] {
  return checker.getPropertiesOfType(type).flatMap((property): DescribedMethod[] => {
    const own = checker.getTypeOfSymbol(property)
    const signatures = own.getCallSignatures()
    const isPlain = (own.flags & ts.TypeFlags.Object) !== 0 && prefix.split('.').length < 4
    if (signatures.length === 0) {
      return isPlain ? listMethods(checker, own, `${prefix}${property.name}.`) : []
    }
    return signatures.map((signature) => {
      const types = signature.parameters.map((parameter) => checker.getTypeOfSymbol(parameter))
      return {
        name: prefix + property.name,
        parameters: types.map((found) => checker.typeToString(found)),
        mentions: types.flatMap((found) => mentionsOf(checker, found, 0)),
        returns: checker.typeToString(signature.getReturnType()),
      }
    })
  })
}

function mentionsOf(checker: ts.TypeChecker, type: ts.Type, depth: number): readonly string[] {
  const own = checker.typeToString(type)
  const parts = type.isUnionOrIntersection() ? type.types : []
  // A branded text is a text with a mark; what it is called is its alias, and its parts say no more.
  const members =
    depth > 3 || (type.flags & ts.TypeFlags.Object) === 0 ? [] : checker.getPropertiesOfType(type)
  return [
    own,
    ...parts.flatMap((part) => mentionsOf(checker, part, depth + 1)),
    ...members
      .filter((member) => (member.declarations ?? []).every((at) => !at.getSourceFile().hasNoDefaultLib))
      .flatMap((member) => mentionsOf(checker, checker.getTypeOfSymbol(member), depth + 1)),
  ]
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
