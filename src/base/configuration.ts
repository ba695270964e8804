/**
 * Resolves a configuration from flags, environment, file and defaults, in this order of precedence.
 *
 * 1. All problems are reported at once, each once and with its origin.
 * 2. An unknown key or `PERAGO_` variable is a problem; the message suggests the nearest known name.
 * 3. No message contains the value of a secret.
 * 4. The origin of every value is known.
 *
 * The table of settings and the reading of files are given by the caller.
 */

import type { FileEntry, FileNode, ParsedFile } from './configuration-file.ts'
import { suggest } from './suggestion.ts'

/** Parses a raw value, a string or plain data. Every zod schema is one. */
export interface ValueSchema<Value> {
  safeParse(raw: unknown):
    | { readonly success: true; readonly data: Value }
    | {
        readonly success: false
        readonly error: { readonly issues: readonly { readonly message: string }[] }
      }
}

export interface Setting<Value = unknown> {
  readonly schema: ValueSchema<Value>
  /** Its purpose, in one sentence. */
  readonly about: string
  /** More environment variables that set it, after the one derived from its name. */
  readonly variables?: readonly string[]
  readonly fallback?: Value
  /** Never shown; may also be read from a file, whose path is under the same key with the suffix `File`. */
  readonly secret?: boolean
}

export type Settings = Readonly<Record<string, Setting>>
type ValueOf<One> = One extends { readonly schema: ValueSchema<infer Value> } ? Value : never

export type Origin =
  | { readonly from: 'flag'; readonly name: string }
  | { readonly from: 'environment'; readonly name: string }
  | { readonly from: 'file'; readonly name: string; readonly line: number }
  | { readonly from: 'default' }
  | { readonly from: 'unset' }

export interface ResolvedSetting<Value> {
  readonly value: Value | undefined
  readonly origin: Origin
}

export interface ConfigurationSources<Names extends string> {
  /** Values from the command line, with their flags. */
  readonly flags?: Readonly<Partial<Record<Names, { readonly flag: string; readonly value: unknown }>>>
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Variables with our prefix that are not settings. */
  readonly otherVariables?: (name: string) => boolean
  readonly file?: ParsedFile & { readonly path: string }
  /** Reads the file that holds a secret, or says why it cannot. `beside` is the file that names it. */
  readonly readSecretFile: (path: string, beside: string | undefined) => Promise<SecretFile>
}

export type SecretFile = { readonly content: string } | { readonly problem: string }

export interface Resolved<Table extends Settings> {
  readonly settings: { readonly [Name in keyof Table]: ResolvedSetting<ValueOf<Table[Name]>> }
  /** One sentence each, beginning with the origin. Empty if there are none. */
  readonly problems: readonly string[]
}

const PREFIX = 'PERAGO_'
const SECRET_FILE = 'File'

/** The variable derived from a setting's name: `lakefs.accessKeyId` → `PERAGO_LAKEFS_ACCESS_KEY_ID`. */
function variableOf(name: string): string {
  return (
    PREFIX +
    name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .replaceAll('.', '_')
      .toUpperCase()
  )
}

/** All variables that set it, the one with the highest precedence first. */
export function variablesOf(name: string, setting: Setting): readonly string[] {
  return [variableOf(name), ...(setting.variables ?? [])]
}

/**
 * ```ts
 * const { settings, problems } = await resolveConfiguration(table, { environment: process.env, readSecretFile })
 * if (problems.length === 0) connect(settings['lakefs.endpoint'].value)
 * ```
 */
export async function resolveConfiguration<Table extends Settings>(
  table: Table,
  sources: ConfigurationSources<keyof Table & string>,
): Promise<Resolved<Table>> {
  const problems: string[] = []
  const fromFile = readFile(table, sources.file, problems)
  checkVariables(table, sources, problems)

  const settings: Record<string, ResolvedSetting<unknown>> = {}
  for (const [name, setting] of Object.entries(table)) {
    const found = strongest(candidates(name, setting, sources, fromFile), problems)
    settings[name] = await settle(setting, found, sources, problems)
  }
  // The table's keys are the result's keys, which the compiler cannot follow through Object.entries.
  return { settings: settings as Resolved<Table>['settings'], problems }
}

/** The origin of a value, for people: `perago.yaml:3`, `LAKEFS_ENDPOINT`, `--log-level`, `default`. */
export function showOrigin(origin: Origin): string {
  switch (origin.from) {
    case 'file':
      return `${origin.name}:${origin.line}`
    case 'flag':
    case 'environment':
      return origin.name
    case 'default':
    case 'unset':
      return origin.from
  }
}

interface Candidate {
  readonly raw: unknown
  readonly origin: Origin
  /** The value is the path of a file that holds the secret. */
  readonly inFile: boolean
}

/** The candidates of each layer, the layer with the highest precedence first. */
function candidates(
  name: string,
  setting: Setting,
  sources: ConfigurationSources<string>,
  fromFile: ReadonlyMap<string, Candidate>,
): readonly (readonly Candidate[])[] {
  const flag = sources.flags?.[name]
  const names = variablesOf(name, setting)
  return [
    flag === undefined ? [] : [{ raw: flag.value, origin: { from: 'flag', name: flag.flag }, inFile: false }],
    // Each variable is a separate layer: PERAGO_LAKEFS_ENDPOINT has precedence over LAKEFS_ENDPOINT without a warning.
    ...names.map((variable) => [
      ...fromVariable(variable, sources, false),
      ...(setting.secret === true ? fromVariable(`${variable}_FILE`, sources, true) : []),
    ]),
    [fromFile.get(name), fromFile.get(name + SECRET_FILE)].filter((candidate) => candidate !== undefined),
  ]
}

function fromVariable(
  variable: string,
  sources: ConfigurationSources<string>,
  inFile: boolean,
): readonly Candidate[] {
  const raw = sources.environment[variable]
  // In a shell or a compose file, an empty variable means "not set".
  return raw === undefined || raw === ''
    ? []
    : [{ raw, origin: { from: 'environment', name: variable }, inFile }]
}

function strongest(layers: readonly (readonly Candidate[])[], problems: string[]): Candidate | undefined {
  const [first, second] = layers.find((layer) => layer.length > 0) ?? []
  if (first !== undefined && second !== undefined) {
    problems.push(
      `${showOrigin(second.origin)}: the same secret is given by ${showOrigin(first.origin)}; keep one`,
    )
  }
  return first
}

async function settle(
  setting: Setting,
  found: Candidate | undefined,
  sources: ConfigurationSources<string>,
  problems: string[],
): Promise<ResolvedSetting<unknown>> {
  if (found === undefined) {
    return { value: setting.fallback, origin: { from: setting.fallback === undefined ? 'unset' : 'default' } }
  }
  const { origin } = found
  const place = showOrigin(origin)
  const raw = found.inFile ? await readSecret(found, sources) : { content: found.raw }
  if ('problem' in raw) {
    problems.push(`${place}: ${raw.problem}`)
    return { value: undefined, origin }
  }
  const parsed = setting.schema.safeParse(raw.content)
  if (parsed.success) return { value: parsed.data, origin }
  problems.push(`${place}: ${parsed.error.issues.map(({ message }) => message).join('; ')}`)
  return { value: undefined, origin }
}

async function readSecret(
  { raw, origin }: Candidate,
  sources: ConfigurationSources<string>,
): Promise<SecretFile> {
  if (typeof raw !== 'string' || raw === '') return { problem: 'expected the path of a file' }
  const secret = await sources.readSecretFile(raw, origin.from === 'file' ? origin.name : undefined)
  // Editors add a line feed at the end; no secret ends with one.
  return 'problem' in secret ? secret : { content: secret.content.replace(/\r?\n$/, '') }
}

/** The known settings in the file; the rest becomes problems. */
function readFile(
  table: Settings,
  file: ConfigurationSources<string>['file'],
  problems: string[],
): ReadonlyMap<string, Candidate> {
  const found = new Map<string, Candidate>()
  if (file === undefined) return found
  const at = ({ line, column }: { readonly line: number; readonly column: number }): string =>
    `${file.path}:${line}:${column}`
  for (const problem of file.problems) problems.push(`${at(problem)}: ${problem.message}`)
  const known = knownNames(table)

  const visit = (node: FileNode, section: string): void => {
    if (node.kind === 'section') {
      for (const entry of node.entries) visitEntry(entry, section)
    } else if (node.value !== null && node.value !== undefined) {
      problems.push(`${at(node)}: ${section === '' ? 'the file' : `"${section}"`} must hold named settings`)
    }
  }
  const visitEntry = (entry: FileEntry, section: string): void => {
    const name = section === '' ? entry.key : `${section}.${entry.key}`
    if (known.has(name)) {
      if (entry.node.kind === 'section') problems.push(`${at(entry)}: "${name}" is one value, not a section`)
      // "endpoint:" without a value, as in a template, is not set.
      else if (entry.node.value !== null && entry.node.value !== undefined) {
        const origin: Origin = { from: 'file', name: file.path, line: entry.line }
        found.set(name, { raw: entry.node.value, origin, inFile: !(name in table) })
      }
    } else if ([...known].some((candidate) => candidate.startsWith(`${name}.`))) {
      visit(entry.node, name)
    } else {
      problems.push(`${at(entry)}: there is no setting "${name}"${didYouMean(name, [...known])}`)
    }
  }
  visit(file.root, '')
  return found
}

function checkVariables(table: Settings, sources: ConfigurationSources<string>, problems: string[]): void {
  const known = Object.entries(table).flatMap(([name, setting]) =>
    variablesOf(name, setting).flatMap((variable) =>
      setting.secret === true ? [variable, `${variable}_FILE`] : [variable],
    ),
  )
  for (const [variable, value] of Object.entries(sources.environment)) {
    if (!variable.startsWith(PREFIX) || value === undefined || known.includes(variable)) continue
    if (sources.otherVariables?.(variable) === true) continue
    problems.push(`${variable}: no setting is read from this variable${didYouMean(variable, known)}`)
  }
}

function knownNames(table: Settings): ReadonlySet<string> {
  return new Set(
    Object.entries(table).flatMap(([name, setting]) =>
      setting.secret === true ? [name, name + SECRET_FILE] : [name],
    ),
  )
}

function didYouMean(word: string, candidates: readonly string[]): string {
  const meant = suggest(word, candidates)
  return meant === undefined ? '' : `; did you mean "${meant}"?`
}
