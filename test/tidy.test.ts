// The house rules as tests.
import { existsSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import { idsOfTitle, readNotYet, readSpecs } from '../scripts/spec-ids.mjs'
import { INSIDE_CORE, ROOMS, judgeImport } from './support/rooms.ts'
import {
  PROJECT_ROOT,
  findCircles,
  isTest,
  listFiles,
  parseSource,
  readExports,
  readImports,
  readStarts,
  readStrings,
  readText,
  readUsedNames,
  reachedFrom,
  visit,
} from './support/source-tree.ts'

const TITLE_MAX_CHARS = 120

/** Values that no other module imports, each with its reason. */
const EXPORTED_FOR_TESTS: Readonly<Record<string, string>> = {
  'src/base/configuration.ts#variablesOf': 'a page is compared with it',
  'src/base/errors.ts#GRPC_STATUS': 'a page is written from it; no door speaks gRPC yet',
  'src/conductor/client.ts#parseEndpoint': 'a rule about texts; with a client each case would need a server',
  'src/conductor/operations.ts#OPERATIONS': 'a page is written from it',
  'src/core/expressions/expression-errors.ts#drawCaret': 'a page is compared with it',
  'src/engine/scheduling/balancing.ts#preferredExecutor': 'a rule over all names and keys',
  'src/lakefs/client.ts#parseEndpoint': 'a rule about texts; with a client each case would need a server',
  'src/publication/commit-metadata.ts#METADATA_KEYS': 'a page is compared with it',
  'src/publication/staging-name.ts#stagingBranchName':
    'a format shared with the Python worker, compared byte for byte',
  'src/publication/steps.ts#PUBLICATION_STEPS': 'a page is compared with it',
  'src/runtime/connections/lease-queue.ts#openLeaseQueue':
    'no test: a thread loads it by the address of its module',
  'src/worker/attempt/publish-changes.ts#planChanges':
    'a pure rule; the second opening of a body shows only between two tries',
  'src/worker/results/failure-map.ts#STATUS_OF_CODE': 'a page is compared with it',
}
/** What the page is made with: built into `dist/web`, so its users install none of it. */
const BUNDLED = ['preact', '@preact/signals', '@dagrejs/dagre', 'hyparquet']
const PROVIDER = 'test/support/servers/servers.ts'

const sources = listFiles('src', (path) => /\.tsx?$/.test(path) && !isTest(path))
const imports = sources.flatMap(readImports)

describe('imports', () => {
  test('HO-01 every import follows the direction of the room table', () => {
    expect(imports.map(judgeImport).filter((wrong) => wrong !== undefined)).toEqual([])
  })

  test.each([
    ['src/base/a.ts', '../lakefs/b.ts', 'base may not import lakefs'],
    ['src/lakefs/a.ts', '../publication/fence.ts', 'lakefs imports port files of publication only'],
    ['src/lakefs/a.ts', '../publication/ports.ts', undefined],
    ['src/core/events/a.ts', '../namespaces/b.ts', undefined],
    ['src/core/events/a.ts', '../variables/b.ts', 'core/events may not import core/variables'],
    ['src/core/events/a.ts', '../ports.ts', undefined],
    ['src/core/ports.ts', './events/a.ts', 'files of core itself import no inner room'],
    ['src/engine/protocol/a.ts', '../../worker/ports.ts', undefined],
    ['src/engine/protocol/a.ts', '../../worker/worker.ts', 'engine imports port files of worker only'],
    ['src/stores/a.ts', '../core/limits.ts', undefined],
    ['src/tasks/a.ts', '../workspace/b.ts', 'tasks may not import workspace'],
    ['src/server/http/a.ts', '../../cli/b.ts', 'server may not import cli'],
    ['src/testing/a.ts', '../cli/main.ts', 'testing may not import cli'],
    ['src/embedded/a.ts', '../lakefs/b.ts', 'embedded may not import lakefs'],
    ['src/web/a.ts', '../base/b.ts', 'web imports generated types only'],
    ['src/base/a.ts', '../perago.ts', 'rooms do not import package entries'],
    ['src/attic/a.ts', '../base/b.ts', 'the table has no room "attic"'],
  ])('HO-01 the table judges %s importing %s', (from, specifier, why) => {
    const to = posix.normalize(posix.join(posix.dirname(from), specifier))
    const verdict = judgeImport({ from, specifier, to, typeOnly: false })
    if (why === undefined) expect(verdict).toBeUndefined()
    else expect(verdict).toContain(why)
  })

  test('HO-01 CONTRIBUTING shows the table that is enforced', () => {
    const shown = readText('CONTRIBUTING.md')
    for (const room of [...Object.keys(ROOMS), ...Object.keys(INSIDE_CORE)])
      expect(shown).toContain(`\`${room}\``)
  })

  test('HO-02 no import circle exists, type imports included', () => {
    const edges = new Map(sources.map((path) => [path, [] as string[]]))
    for (const { from, to } of imports) if (to !== undefined) edges.get(from)?.push(to)
    expect(findCircles(edges)).toEqual([])
  })

  test('HO-02 a circle would be found', () => {
    const edges = new Map([
      ['a', ['b', 'd']],
      ['b', ['c']],
      ['c', ['a']],
      ['d', ['c']],
    ])
    expect(findCircles(edges)).toEqual(['a → b → c → a'])
  })

  test('HO-03 src has named exports only', () => {
    expect(sources.filter((path) => exportsDefault(parseSource(path)))).toEqual([])
  })

  test('HO-03 every way of writing a default export would be found', () => {
    const parse = (text: string): ts.SourceFile =>
      ts.createSourceFile('a.ts', text, ts.ScriptTarget.ES2023, true)
    const ways = [
      'export default 1',
      'export default function f() {}',
      'const a = 1; export { a as default }',
    ]
    expect(ways.map((text) => exportsDefault(parse(text)))).toEqual([true, true, true])
    expect(exportsDefault(parse('export const a = (b: 1) => { switch (b) { default: return 1 } }'))).toBe(
      false,
    )
  })

  test('HO-04 no module of src imports a file outside src, or one that is not there', () => {
    const astray = imports.filter(({ from, to }) => {
      const isOfPage =
        from.startsWith('src/web/') &&
        /^src\/web\/.+\.css$/.test(to ?? '') &&
        existsSync(join(PROJECT_ROOT, to ?? ''))
      return to !== undefined && !sources.includes(to) && !isOfPage
    })
    expect(astray.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
  })

  test('HO-04 no module of src reads a file of the project that the package does not carry', () => {
    const carried = (JSON.parse(readText('package.json')) as { files: string[] }).files.concat('package.json')
    const astray = sources.flatMap((path) =>
      readUrlsBesideModule(path)
        .map((url) => posix.normalize(posix.join(posix.dirname(path), url)))
        .filter(
          (to) => !to.startsWith('src/') && !carried.some((name) => to === name || to.startsWith(`${name}/`)),
        )
        .map((to) => `${path} reads ${to}`),
    )
    expect(astray).toEqual([])
  })

  test('HO-05 src imports runtime dependencies and node: builtins, nothing that only development has', () => {
    const manifest = JSON.parse(readText('package.json')) as Record<
      string,
      Record<string, string> | undefined
    >
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const astray = imports.filter(({ from, specifier, to }) => {
      if (to !== undefined || (specifier.startsWith('node:') && isBuiltin(specifier))) return false
      const known = from.startsWith('src/web/') ? BUNDLED : declared
      return !known.some((name) => specifier === name || specifier.startsWith(`${name}/`))
    })
    expect(astray.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([])
  })

  test('HO-28 CONTRIBUTING gives a reason for every runtime dependency', () => {
    const { dependencies } = JSON.parse(readText('package.json')) as {
      readonly dependencies: Readonly<Record<string, string>>
    }
    const section = readText('CONTRIBUTING.md').split('\n## Dependencies\n')[1]?.split('\n## ')[0] ?? ''
    const listed = [...section.matchAll(/^\| `([^`]+)` \| .+ \|$/gm)].map(([, name]) => name)
    expect(listed).toEqual(Object.keys(dependencies))
  })

  test('HO-27 every module of src is reached from what the package starts or exports', () => {
    const reached = reachedFrom(packageEntries(), [...imports, ...sources.flatMap(readStarts)])
    expect(sources.filter((path) => !reached.has(path))).toEqual([])
  })

  test.each([
    ['the command line, before it knows the command', 'src/cli/main.ts', 50],
    ['the package, which every module of tasks imports', 'src/perago.ts', 130],
  ])('HO-33 %s loads neither engine nor worker nor stores, and few modules', (_, entry, most) => {
    const loaded = reachedFrom(
      [entry],
      imports.filter(({ typeOnly, isLazy }) => !typeOnly && isLazy !== true),
    )
    expect(
      [...loaded].filter((path) => /^src\/(?:engine\/host|worker\/attempt|stores|embedded)\//.test(path)),
    ).toEqual([])
    expect(loaded.size).toBeLessThan(most)
  })

  test('HO-30 no value is exported for tests alone, but for the reasons listed', () => {
    const used = new Set(sources.flatMap((path) => readUsedNames(path)))
    const entries = packageEntries()
    const alone = sources
      .filter((path) => !entries.includes(path) && !used.has(`${path}#*`))
      .flatMap((path) => readExports(parseSource(path)).map((name) => `${path}#${name}`))
      .filter((name) => !used.has(name))
    expect(alone).toEqual(Object.keys(EXPORTED_FOR_TESTS).sort())
  })

  test('HO-30 an export that nothing imports would be found', () => {
    const parse = (text: string): ts.SourceFile =>
      ts.createSourceFile('src/a.ts', text, ts.ScriptTarget.ES2023, true)
    const file = parse(
      'export const a = 1, b = 2; export function f() {}; export class C {}; export type T = 1; const d = 1',
    )
    expect(readExports(file)).toEqual(['a', 'b', 'f', 'C'])
    const user = parse(
      "import { a as x } from './b.ts'; export { y } from './c.ts'; import * as z from './d.ts'; import('./e.ts')",
    )
    expect(readUsedNames('src/a.ts', user)).toEqual(['src/b.ts#a', 'src/c.ts#y', 'src/d.ts#*', 'src/e.ts#*'])
  })

  test('HO-27 a module that only a test imports would be found', () => {
    const of = (from: string, to: string) => ({ from, to, specifier: to, typeOnly: false })
    const found = reachedFrom(['main.ts'], [of('main.ts', 'a.ts'), of('a.ts', 'b.ts'), of('c.ts', 'd.ts')])
    expect([...found]).toEqual(['main.ts', 'a.ts', 'b.ts'])
  })
})

describe('specs', () => {
  const shelf = join(PROJECT_ROOT, 'docs/specs')
  const specs = readSpecs(shelf)
  const notYet = readNotYet(shelf)
  const titles = listFiles('.', (path) => isTest(path) || /^test\/.*\.ts$/.test(path))
    .flatMap((path) => readStrings(path).map((text) => ({ path, text, ids: idsOfTitle(text) })))
    .filter(({ ids }) => ids.length > 0)
  const named = titles.flatMap(({ path, ids }) => ids.map((id) => ({ id, path })))
  const proven = new Set(named.map(({ id }) => id))

  test('HO-06 every promise of docs/specs has a test that names it or a reason in not-yet.md', () => {
    expect([...specs.keys()].filter((id) => !proven.has(id) && !notYet.has(id))).toEqual([])
  })

  test('HO-06 no promise is both named by a test and excused in not-yet.md', () => {
    expect([...notYet.keys()].filter((id) => proven.has(id))).toEqual([])
  })

  test('HO-06 what not-yet.md excuses is promised somewhere, and has a reason', () => {
    expect([...notYet].filter(([id, reason]) => !specs.has(id) || reason === '')).toEqual([])
  })

  test('HO-07 no test title names a promise that docs/specs does not make', () => {
    const unknown = named.filter(({ id }) => !specs.has(id))
    expect(unknown.map(({ id, path }) => `${path} names ${id}`)).toEqual([])
  })

  test('HO-29 a test title names at most two promises and has at most 120 characters', () => {
    const long = titles.filter(({ text, ids }) => ids.length > 2 || text.length > TITLE_MAX_CHARS)
    expect(long.map(({ path, text }) => `${path}: ${text}`)).toEqual([])
  })

  test('HO-32 a test that uses a real server is left through the provider only', () => {
    const users = listFiles('.', (path) => /^(src|test)\/.*\.ts$/.test(path)).filter((path) =>
      readImports(path).some(({ to }) => to?.startsWith('test/support/servers/')),
    )
    expect(users.filter((path) => path !== PROVIDER && skips(path))).toEqual([])
    expect(skips(PROVIDER)).toBe(true)
  })

  test('HO-07 ids are read from the head of a title only', () => {
    // Joined, so that this line is not read as a title.
    expect(idsOfTitle(['F-12', 'F-13', 'a stale attempt stops'].join(' '))).toEqual(['F-12', 'F-13'])
    expect(idsOfTitle(['F-12,', 'HO-01:', 'both'].join(' '))).toEqual(['F-12', 'HO-01'])
    expect(idsOfTitle('a stale attempt, see F-12')).toEqual([])
    expect(idsOfTitle('SHA-256 of the body')).toEqual([])
  })

  test('HO-06 every page of docs/specs is listed in its README', () => {
    const listed = readText('docs/specs/README.md')
    const pages = listFiles('docs/specs', (path) => !path.endsWith('README.md')).map((path) =>
      posix.basename(path),
    )
    expect(pages.filter((page) => !listed.includes(`(${page})`))).toEqual([])
  })
})

describe('docs', () => {
  const pages = listFiles('.', (path) => path.endsWith('.md'))

  test('HO-08 every decision is listed once, under a number of its own', () => {
    const files = listFiles('docs/decisions', (path) => !path.endsWith('README.md')).map((path) =>
      posix.basename(path),
    )
    const listed = [...readText('docs/decisions/README.md').matchAll(/\]\((\d{4}-[^)]+\.md)\)/g)].map(
      ([, to]) => to,
    )
    expect(listed.sort()).toEqual(files)
    expect(files.filter((name) => !/^\d{4}-[a-z0-9-]+\.md$/.test(name))).toEqual([])
    const numbers = files.map((name) => name.slice(0, 4))
    expect(numbers).toEqual([...new Set(numbers)])
  })

  test('HO-09 every relative link in the documents leads somewhere', () => {
    const broken = pages.flatMap((page) => readLinks(page).flatMap((link) => judgeLink(page, link)))
    expect(broken).toEqual([])
  })

  test('HO-19 every page of the four shelves is on the map', () => {
    const map = readText('docs/README.md')
    const shelves = ['tutorials', 'guides', 'reference', 'concepts'].flatMap((shelf) => {
      const there = existsSync(join(PROJECT_ROOT, 'docs', shelf))
      return there ? listFiles(`docs/${shelf}`, (path) => !path.endsWith('README.md')) : []
    })
    expect(shelves.filter((path) => !map.includes(`(${path.slice('docs/'.length)})`))).toEqual([])
  })

  test('HO-10 no file names a path of one machine, a registry host or what is not the project', () => {
    const found = listFiles('.')
      .filter((path) => !/\.(png|jpg|wasm|ico|gz)$/.test(path))
      .flatMap((path) =>
        readText(path)
          .split('\n')
          .flatMap((line, index) => (isForbidden(path, line) ? [`${path}:${String(index + 1)}`] : [])),
      )
    expect(found).toEqual([])
  })

  test('HO-10 a forbidden word would be found', () => {
    const [slash, dot] = ['/', '.']
    expect(isForbidden('src/a.ts', `open("${slash}work${slash}main")`)).toBe(true)
    expect(isForbidden('src/a.ts', `https:${slash}${slash}registry${dot}npmjs${dot}org`)).toBe(true)
    expect(isForbidden('src/a.ts', `src${slash}work${slash}a.ts`)).toBe(false)
  })
})

/** The modules behind the entries and the command of package.json. */
function packageEntries(): string[] {
  const manifest = JSON.parse(readText('package.json')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  }
  const exported = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [entry.default],
  )
  // What the command's own file starts, once it is built.
  const [, command = ''] = /import\('\.\.\/(.+)'\)/.exec(readText('bin/run.cjs')) ?? []
  const started = [command, ...exported].map((path) =>
    path.replace(/^(\.\/)?dist\//, 'src/').replace(/\.js$/, '.ts'),
  )
  return ['src/web/main.tsx', ...started]
}

function exportsDefault(file: ts.SourceFile): boolean {
  const ways: ts.Node[] = []
  visit(file, (node) => {
    const isKeyword = node.kind === ts.SyntaxKind.DefaultKeyword && !ts.isDefaultClause(node.parent)
    const isName = ts.isExportSpecifier(node) && node.name.text === 'default'
    if (isKeyword || isName || ts.isExportAssignment(node)) ways.push(node)
  })
  return ways.length > 0
}

// The words are put together here, because this file is itself among those that are searched.
function isForbidden(path: string, line: string): boolean {
  const roots = ['wo' + 'rk', 'fa' + 'rm', 'tmp/re' + 'al', 'tmp/bash' + '_jobs', 'ro' + 'ot'].join('|')
  const hosts = [
    ['registry', 'npmjs'],
    ['registry', 'yarnpkg'],
    ['proxy', 'golang'],
    ['repo', 'maven', 'apache'],
    ['repo1', 'maven'],
    ['files', 'pythonhosted'],
  ]
  const patterns = [
    new RegExp(`(^|[^A-Za-z0-9_./-])/(${roots})/`),
    ...hosts.map((parts) => RegExp(parts.join('\\.'))),
  ]
  // Only the gate may look for a checker that stands beside the checkout.
  if (path !== '.ci/run') patterns.push(new RegExp(`\\.\\./sha` + `red/`))
  return patterns.some((pattern) => pattern.test(line))
}

/** The literal addresses a module resolves against its own place: `new URL('../x', import.meta.url)`. */
function readUrlsBesideModule(path: string): string[] {
  const found: string[] = []
  visit(parseSource(path), (node) => {
    if (!ts.isNewExpression(node) || node.arguments?.[1]?.getText() !== 'import.meta.url') return
    const [first] = node.arguments
    if (first !== undefined && ts.isStringLiteralLike(first)) found.push(first.text)
  })
  return found
}

function readLinks(page: string): string[] {
  const prose = readText(page)
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .replace(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)].map(([, target]) => target ?? '')
}

function judgeLink(page: string, link: string): string[] {
  if (/^[a-z]+:/i.test(link)) return []
  const [path, anchor] = link.split('#')
  const target =
    path === '' || path === undefined ? page : posix.normalize(posix.join(posix.dirname(page), path))
  if (!existsSync(join(PROJECT_ROOT, target))) return [`${page} links to ${link}: there is no ${target}`]
  if (anchor === undefined || !target.endsWith('.md')) return []
  return readAnchors(target).includes(anchor) ? [] : [`${page} links to ${link}: there is no such heading`]
}

/** The anchors a page offers, after GitHub's rule for headings. */
function readAnchors(page: string): string[] {
  const headings = readText(page)
    .replace(/^(```|~~~)[\s\S]*?^\1/gm, '')
    .matchAll(/^#{1,6}\s+(.*)$/gm)
  const seen = new Map<string, number>()
  return [...headings].map(([, heading]) => {
    const slug = (heading ?? '')
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    return times === 0 ? slug : `${slug}-${String(times)}`
  })
}

/** Whether a file leaves tests out: `context.skip(…)`, `test.skip`, `describe.skipIf(…)` and so on. */
function skips(path: string): boolean {
  let found = false
  visit(parseSource(path), (node) => {
    if (!ts.isPropertyAccessExpression(node) || !ts.isIdentifier(node.expression)) return
    const isOfTest = ['context', 'test', 'it', 'describe'].includes(node.expression.text)
    if (isOfTest && ['skip', 'skipIf', 'runIf', 'todo'].includes(node.name.text)) found = true
  })
  return found
}
