// The pages on what each package entry exports, from its doc comments.
import { readFileSync } from 'node:fs'
import { Application, ReflectionKind } from 'typedoc'
import { load } from 'typedoc-plugin-markdown'

/** Writes Markdown below a directory; a link of a doc comment that leads nowhere fails the build. */
export async function writeApiPages(directory) {
  const app = await Application.bootstrapWithPlugins({
    plugin: [load],
    entryPoints: entryPoints(),
    tsconfig: 'tsconfig.build.json',
    // Named, because TypeDoc writes into `docs/` otherwise, and empties it first.
    outputs: [{ name: 'markdown', path: directory }],
    cleanOutputDir: false,
    readme: 'none',
    router: 'module',
    entryFileName: 'index',
    name: 'API',
    disableSources: true,
    excludeExternals: true,
    excludePrivate: true,
    excludeInternal: true,
    hideGenerator: true,
    // Otherwise one of its links is to a heading that VitePress numbers differently.
    useHTMLAnchors: true,
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    // What a type of an entry is made of need not be exported by the same entry.
    validation: { invalidLink: true, notExported: false, notDocumented: false },
    blockTags: [
      '@description',
      '@example',
      '@internal',
      '@module',
      '@param',
      '@returns',
      '@throws',
      '@deprecated',
      '@default',
    ],
    logLevel: 'Warn',
  })
  const project = await app.convert()
  if (project === undefined) throw new Error('the sources do not compile: run `npm run types`')
  requireDocumentedOptions(project)
  app.validate(project)
  await app.generateOutputs(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc has warned: see above')
}

const OF_OPTIONS = /(?:Options|Input|Setup|Controls|Limits|Place|Definition)$/

/** What an editor shows on hover. */
function requireDocumentedOptions(project) {
  const options = project
    .getReflectionsByKind(ReflectionKind.Property)
    .filter((each) => OF_OPTIONS.test(ownerOf(each)))
  const nameOf = (each) => `${ownerOf(each)}.${each.name}`
  // A condition of a type names the property once more.
  const documented = new Set(options.filter((each) => each.hasComment()).map(nameOf))
  const left = options.map(nameOf).filter((name) => !documented.has(name))
  if (left.length === 0) return
  throw new Error(`options without a doc comment:\n${[...new Set(left)].sort().join('\n')}`)
}

/** The type that a property is of, also where it is written in place. */
function ownerOf({ parent }) {
  return (parent?.name === '__type' ? parent.parent?.name : parent?.name) ?? ''
}

/** The sources of the entries that `package.json` exports. */
function entryPoints() {
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8'))
  return Object.values(exports)
    .flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]))
    .map((path) => path.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))
}
