// Reads the project's own files for the tests that watch over its order.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, posix, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

export const PROJECT_ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface Import {
  /** The file that imports, as a path from the project's root with `/`. */
  readonly from: string
  readonly specifier: string
  /** The file that is imported, for relative imports. */
  readonly to: string | undefined
  readonly typeOnly: boolean
  /** Loaded when it is called: `import('./x.ts')`. */
  readonly isLazy?: true
}

/** Every file of the project that is ours: nothing fetched, built or left behind by a run. */
export function listFiles(directory = '.', keep: (path: string) => boolean = () => true): string[] {
  const left = new Set([
    '.git',
    'node_modules',
    'dist',
    'coverage',
    '.perago',
    'test-report',
    '.cache',
    'site',
  ])
  return readdirSync(join(PROJECT_ROOT, directory), { withFileTypes: true })
    .filter((entry) => !left.has(entry.name) && !entry.name.endsWith('.tgz'))
    .filter((entry) => directory !== 'bench' || entry.name !== 'results')
    .flatMap((entry) => {
      const path = posix.join(directory.split(sep).join('/'), entry.name)
      return entry.isDirectory() ? listFiles(path) : [path]
    })
    .filter(keep)
    .sort()
}

export function readText(path: string): string {
  return readFileSync(join(PROJECT_ROOT, path), 'utf8')
}

export function parseSource(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readText(path), ts.ScriptTarget.ES2023, true)
}

export function isTest(path: string): boolean {
  return /\.test\.ts$/.test(path)
}

/** Static, re-exporting, dynamic and type imports alike: a tangle is a tangle however it is written. */
export function readImports(path: string): Import[] {
  const found: Import[] = []
  visit(parseSource(path), (node) => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword)
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false, { isLazy: true })
  })
  return found

  function add(specifier: ts.Node | undefined, typeOnly: boolean, more: Pick<Import, 'isLazy'> = {}): void {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    const relativeTo = specifier.text.startsWith('.')
      ? posix.normalize(posix.join(posix.dirname(path), specifier.text))
      : undefined
    found.push({ from: path, specifier: specifier.text, to: relativeTo, typeOnly, ...more })
  }
}

/** The names of the values that a file exports where it declares them. Types cost nothing and are left out. */
export function readExports(file: ts.SourceFile): string[] {
  return file.statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return []
    const modifiers = ts.getModifiers(statement) ?? []
    if (!modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
    if (ts.isVariableStatement(statement))
      return statement.declarationList.declarations.map(({ name }) => name.getText(file))
    const isValue = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)
    return isValue && statement.name !== undefined ? [statement.name.text] : []
  })
}

/** The names that a file imports or passes on, each as `<file>#<name>`; `<file>#*` for all of a file. */
export function readUsedNames(path: string, file = parseSource(path)): string[] {
  const found: string[] = []
  const add = (specifier: ts.Node | undefined, names: readonly string[]): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.'))
      return
    const to = posix.normalize(posix.join(posix.dirname(path), specifier.text))
    found.push(...names.map((name) => `${to}#${name}`))
  }
  visit(file, (node) => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings
      add(node.moduleSpecifier, bindings && ts.isNamedImports(bindings) ? namesOf(bindings.elements) : ['*'])
    } else if (ts.isExportDeclaration(node)) {
      const clause = node.exportClause
      add(node.moduleSpecifier, clause && ts.isNamedExports(clause) ? namesOf(clause.elements) : ['*'])
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], ['*'])
  })
  return found
}

function namesOf(elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[]): string[] {
  return elements.map(({ name, propertyName }) => (propertyName ?? name).text)
}

/** The modules that a file starts as a thread or a process: `entryUrl(import.meta.url, './x.ts')`. */
export function readStarts(path: string): Import[] {
  const found: Import[] = []
  visit(parseSource(path), (node) => {
    if (!ts.isCallExpression(node) || node.expression.getText() !== 'entryUrl') return
    const specifier = node.arguments[1]
    if (specifier === undefined || !ts.isStringLiteralLike(specifier)) return
    const to = posix.normalize(posix.join(posix.dirname(path), specifier.text))
    found.push({ from: path, specifier: specifier.text, to, typeOnly: false })
  })
  return found
}

/** All files that the entries import, directly or through others; the entries themselves included. */
export function reachedFrom(entries: readonly string[], imports: readonly Import[]): ReadonlySet<string> {
  const reached = new Set(entries)
  // A set that grows while it is iterated hands out what was added as well.
  for (const path of reached) {
    for (const { from, to } of imports) if (from === path && to !== undefined) reached.add(to)
  }
  return reached
}

/** The text of every string in a file; of a template, the part before the first placeholder. */
export function readStrings(path: string): string[] {
  const found: string[] = []
  visit(parseSource(path), (node) => {
    if (ts.isStringLiteralLike(node)) found.push(node.text)
    else if (ts.isTemplateExpression(node)) found.push(node.head.text)
  })
  return found
}

export function visit(node: ts.Node, see: (node: ts.Node) => void): void {
  see(node)
  ts.forEachChild(node, (child) => visit(child, see))
}

/** Circles in a graph, each once, written as the way round. */
export function findCircles(edges: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const walk = (node: string, way: readonly string[]): void => {
    const seenAt = way.indexOf(node)
    if (seenAt >= 0) {
      circles.push([...way.slice(seenAt), node].join(' → '))
      return
    }
    if (done.has(node)) return
    for (const next of edges.get(node) ?? []) walk(next, [...way, node])
    done.add(node)
  }
  for (const node of edges.keys()) walk(node, [])
  return circles
}
