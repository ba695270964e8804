/** The settings of perago, read from flags, environment, file and defaults. */

import { dirname, resolve } from 'node:path'
import {
  resolveConfiguration,
  type ConfigurationSources,
  type Resolved,
  type SecretFile,
  type Setting,
} from '../../base/configuration.ts'
import { parseConfigurationFile, type ParsedFile } from '../../base/configuration-file.ts'
import { InvalidError } from '../../base/errors.ts'
import { RETENTION_CHECKPOINTS_MS, RETENTION_EVENTS_MS, RETENTION_VARIABLES_MS } from '../../core/limits.ts'
import { LAKEFS_CONNECTIONS_MAX } from '../../lakefs/limits.ts'
import { CACHE_MAX_BYTES, CONFIGURATION_FILE_MAX_BYTES, SECRET_FILE_MAX_BYTES } from '../limits.ts'
import { LOG_LEVELS, type LogLevel } from '../../base/logger.ts'
import { createRedactor, type Redactor } from '../../base/redaction.ts'
import {
  addressSchema,
  choiceSchema,
  flagSchema,
  retentionSchema,
  secretSchema,
  sizeSchema,
  textSchema,
  wholeNumberSchema,
} from './configuration-schemas.ts'
import { FENCE_POLICIES, type FencePolicy } from '../../publication/hard-fences.ts'
import { assembleEngine, ENGINE_SETTINGS, type EngineConfiguration } from './engine-settings.ts'
import { ON_RETRY, type OnRetry } from '../../tasks/task-controls.ts'
import { SECRET_RESULTS, type SecretResults } from '../../worker/attempt/withhold-secrets.ts'
import { OUTAGE_GIVE_UP_MS } from '../../worker/limits.ts'
import { readTenantLakefs, type TenantLakefs } from './tenant-lakefs.ts'
import { passwordsIn } from '../stores/store-address.ts'
import { readBoundedText } from './text-files.ts'

export const LOG_FORMATS = ['auto', 'json', 'pretty'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/** Every setting by its name; `docs/reference/configuration.md` is held to this table. */
export const SETTINGS = {
  'lakefs.endpoint': {
    schema: addressSchema(),
    about: 'Where lakeFS is, with or without `/api/v1` at its end.',
    variables: ['LAKEFS_ENDPOINT'],
  },
  'lakefs.accessKeyId': {
    schema: textSchema(),
    about: 'The access key id for lakeFS.',
    variables: ['LAKEFS_ACCESS_KEY_ID'],
  },
  'lakefs.secretAccessKey': {
    schema: secretSchema(),
    about: 'The secret access key for lakeFS.',
    variables: ['LAKEFS_SECRET_ACCESS_KEY'],
    secret: true,
  },
  'lakefs.connections': {
    schema: wholeNumberSchema({ least: 1, most: 1024 }),
    about: 'The most connections, and so requests in flight, to one lakeFS.',
    fallback: LAKEFS_CONNECTIONS_MAX,
  },
  'lakefs.fence': {
    schema: choiceSchema(FENCE_POLICIES),
    about:
      'The hard fence: `preferred`, hard where it is installed; `required`, refuse where it is not; `off`, never.',
    fallback: 'preferred',
  },
  'ledger.onRetry': {
    schema: choiceSchema(ON_RETRY),
    about:
      'What a retry does with a publication of its own task, where the task does not say it: `replace` it, or `adopt` it.',
    fallback: 'replace',
  },
  'ledger.keys': {
    schema: secretSchema(),
    about:
      'Keys that sign what is recorded with a publication, as `ID=BASE64` of at least 32 bytes each; the first signs, all of them are accepted.',
    secret: true,
  },
  'results.secrets': {
    schema: choiceSchema(SECRET_RESULTS),
    about:
      'What becomes of a task whose result holds a configured secret: `refuse` fails it for good, `redact` replaces the secret.',
    fallback: 'refuse',
  },
  'conductor.serverUrl': {
    schema: addressSchema(),
    about: 'Where Conductor is, with its `/api`.',
    variables: ['CONDUCTOR_SERVER_URL'],
  },
  'conductor.authKey': {
    schema: textSchema(),
    about: 'The key id for Conductor.',
    variables: ['CONDUCTOR_AUTH_KEY'],
  },
  'conductor.authSecret': {
    schema: secretSchema(),
    about: 'The key secret for Conductor.',
    variables: ['CONDUCTOR_AUTH_SECRET'],
    secret: true,
  },
  'cache.size': {
    schema: sizeSchema(),
    about:
      'The size of the cache of fetched objects on the disk of a worker, such as `5 GiB`; `0`: no cache.',
    fallback: CACHE_MAX_BYTES,
  },
  'cache.warm': {
    schema: flagSchema(),
    about:
      'Whether a task may reuse the directory of the task before it, after checking that it equals its commit.',
    fallback: true,
  },
  'outages.giveUpAfter': {
    schema: retentionSchema(),
    about:
      'How long after it was first taken a task is handed back, without using a retry, because lakeFS or its object store is away, such as `12h`, or `forever`.',
    fallback: OUTAGE_GIVE_UP_MS,
  },
  'store.address': {
    schema: secretSchema(),
    about:
      'Where executions are kept: a SQLite file, or `postgresql://`, `redis://`, `rediss://`, `etcd://`, `etcds://`; `memory:` for tests.',
    secret: true,
  },
  'store.keys': {
    schema: secretSchema(),
    about:
      'Keys that values in the store are encrypted with, as `ID=BASE64` of 32 bytes each; the first encrypts, all of them decrypt.',
    secret: true,
  },
  'store.compress': {
    schema: flagSchema(),
    about: 'Whether large values in the store are compressed; with keys they always are.',
    fallback: false,
  },
  'archive.address': {
    schema: secretSchema(),
    about: 'Where events of ended executions go: a SQLite file of its own, or `postgresql://`.',
    secret: true,
  },
  'retention.events': {
    schema: retentionSchema(),
    about: 'How long events are kept after their execution has ended, such as `30d`, or `forever`.',
    fallback: RETENTION_EVENTS_MS,
  },
  'retention.variables': {
    schema: retentionSchema(),
    about: 'How long variables are kept after their execution has ended.',
    fallback: RETENTION_VARIABLES_MS,
  },
  'retention.checkpoints': {
    schema: retentionSchema(),
    about: 'How long checkpoints are kept after their execution has ended.',
    fallback: RETENTION_CHECKPOINTS_MS,
  },
  ...ENGINE_SETTINGS,
  'engine.tenantLakefs': {
    schema: secretSchema(),
    about:
      'The lakeFS of each tenant of `perago serve --engine`, for rollbacks: lines of tenant, address, access key id and secret. Without a tenant it is that of `lakefs.endpoint`.',
    secret: true,
  },
  'log.level': {
    schema: choiceSchema(LOG_LEVELS),
    about: 'The lowest level that is logged.',
    fallback: 'warn',
  },
  'log.format': {
    schema: choiceSchema(LOG_FORMATS),
    about: '`pretty` for people, `json` for programs; `auto` chooses by whether a terminal shows the log.',
    fallback: 'auto',
  },
} as const satisfies Readonly<Record<string, Setting>>

export type SettingName = keyof typeof SETTINGS

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export interface PeragoConfiguration {
  readonly lakefs: {
    readonly endpoint: string | undefined
    readonly credentials: Credentials | undefined
    readonly connections: number
    /** `preferred` unless set. */
    readonly fence?: FencePolicy
  }
  readonly conductor: {
    readonly serverUrl: string | undefined
    readonly auth: { readonly key: string; readonly secret: string } | undefined
  }
  /** Tasks replace, and nothing is signed, unless set. */
  readonly ledger?: { readonly onRetry: OnRetry; readonly keys: string | undefined }
  /** Results with a configured secret are refused unless set. */
  readonly results?: { readonly secrets: SecretResults }
  readonly log: { readonly level: LogLevel; readonly format: LogFormat }
}

/** Where executions are kept, and how long. */
export interface CoreConfiguration {
  readonly storeAddress: string | undefined
  readonly storeKeys: string | undefined
  readonly compress: boolean
  readonly archiveAddress: string | undefined
  readonly retention: {
    readonly eventsMs: number
    readonly variablesMs: number
    readonly checkpointsMs: number
  }
}

export interface LoadedConfiguration {
  readonly configuration: PeragoConfiguration
  /** Separate from the rest, which is passed to every process of a worker. */
  readonly core: CoreConfiguration
  readonly engine: EngineConfiguration
  readonly tenantLakefs: ReadonlyMap<string, TenantLakefs>
  /** Each value with where it came from. Holds secrets: show it through `redactor`. */
  readonly settings: Resolved<typeof SETTINGS>['settings']
  /** The file that was read, if any. */
  readonly path: string | undefined
  /** Every configured secret, for a redactor that also removes others. */
  readonly secrets: readonly string[]
  /** Removes every configured secret. */
  readonly redactor: Redactor
}

export interface LoadConfigurationRequest {
  readonly directory: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** A file named on the command line; then no other is looked for. */
  readonly path?: string | undefined
  readonly flags?: ConfigurationSources<SettingName>['flags']
}

/** Looked up in the working directory; at most one may exist. */
const CONFIGURATION_FILES = ['perago.yaml', 'perago.yml', 'perago.json'] as const

/**
 * Reads the whole configuration, or throws one `InvalidError` that names every problem in its `problems`.
 *
 * ```ts
 * const { configuration } = await loadConfiguration({ directory: process.cwd(), environment: process.env })
 * ```
 */
export async function loadConfiguration(request: LoadConfigurationRequest): Promise<LoadedConfiguration> {
  const { file, problems: fileProblems } = await readConfigurationFile(request)
  const { settings, problems: settingProblems } = await resolveConfiguration(SETTINGS, {
    flags: request.flags ?? {},
    environment: request.environment,
    otherVariables: isOtherVariable,
    ...(file === undefined ? {} : { file }),
    readSecretFile: (path, beside) => readSecretFile(resolve(placeOf(beside, request.directory), path)),
  })
  const secrets = secretsOf(settings)
  const redactor = createRedactor(secrets)
  const problems = [...fileProblems, ...settingProblems]
  // If a secret could not be read, that is reported already.
  const tenants = readTenantLakefs(settings['engine.tenantLakefs'].value ?? '')
  if (problems.length === 0) problems.push(...findIncomplete(settings), ...tenants.problems)
  if (problems.length > 0) throw badConfiguration(problems.map((problem) => redactor.text(problem)))
  return {
    configuration: assemble(settings),
    core: assembleCore(settings),
    engine: assembleEngine(settings),
    tenantLakefs: tenants.lakefs,
    settings,
    path: file?.path,
    secrets,
    redactor,
  }
}

function secretsOf(settings: LoadedConfiguration['settings']): readonly string[] {
  const addresses = [settings['store.address'].value, settings['archive.address'].value]
  return [
    settings['lakefs.secretAccessKey'].value,
    settings['conductor.authSecret'].value,
    ...[settings['store.keys'].value, settings['ledger.keys'].value].flatMap((keys = '') =>
      keys.split(/[\s,]+/).map((key) => key.replace(/^[^=]*=/, '')),
    ),
    ...[...readTenantLakefs(settings['engine.tenantLakefs'].value ?? '').lakefs.values()].map(
      ({ credentials }) => credentials.secretAccessKey,
    ),
    // An address without a password has nothing to hide.
    ...addresses.flatMap(passwordsIn),
  ].filter((secret): secret is string => secret !== undefined && secret !== '')
}

const PATH_VARIABLE = 'PERAGO_CONFIG'
/** Set by each build, not a setting: the revision of the task code. */
const REVISION_VARIABLE = 'PERAGO_REVISION'

/** Variables with our prefix that are not settings: the path of the file, and those of embedded servers and tests. */
function isOtherVariable(name: string): boolean {
  return (
    name === PATH_VARIABLE ||
    name === REVISION_VARIABLE ||
    name.startsWith('PERAGO_TEST_') ||
    name.startsWith('PERAGO_EMBEDDED_')
  )
}

function placeOf(file: string | undefined, directory: string): string {
  return file === undefined ? directory : dirname(resolve(directory, file))
}

function badConfiguration(problems: readonly string[]): InvalidError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`
  return new InvalidError('runtime/bad-configuration', `read the configuration: ${count}`, {
    details: { problems },
    next: 'Correct them; docs/reference/configuration.md describes every setting.',
  })
}

async function readConfigurationFile(
  request: LoadConfigurationRequest,
): Promise<{ readonly file?: ParsedFile & { readonly path: string }; readonly problems: readonly string[] }> {
  const named =
    request.path ??
    (request.environment[PATH_VARIABLE] === '' ? undefined : request.environment[PATH_VARIABLE])
  const found: { readonly path: string; readonly content: string }[] = []
  const problems: string[] = []
  for (const path of named === undefined ? CONFIGURATION_FILES : [named]) {
    const read = await readBoundedText(resolve(request.directory, path), CONFIGURATION_FILE_MAX_BYTES)
    if ('content' in read) found.push({ path, content: read.content })
    else if (named !== undefined || read.reason !== 'absent') problems.push(`${path}: ${read.problem}`)
  }
  const [first, second] = found
  if (first === undefined) return { problems }
  if (second !== undefined) problems.push(`${second.path}: ${first.path} exists as well; remove one of them`)
  return { file: { path: first.path, ...(await parseConfigurationFile(first.content)) }, problems }
}

async function readSecretFile(path: string): Promise<SecretFile> {
  const read = await readBoundedText(path, SECRET_FILE_MAX_BYTES)
  return 'content' in read ? { content: read.content } : { problem: `${path}: ${read.problem}` }
}

/** Of two settings that belong together only one is given: found here rather than by the first request. */
function findIncomplete(settings: LoadedConfiguration['settings']): readonly string[] {
  const pairs = [
    ['lakefs.accessKeyId', 'lakefs.secretAccessKey'],
    ['conductor.authKey', 'conductor.authSecret'],
  ] as const
  return pairs.flatMap(([key, secret]) => {
    const given = [key, secret].filter((name) => settings[name].value !== undefined)
    const missing = [key, secret].filter((name) => settings[name].value === undefined)
    return given.length === 1 ? [`${missing.join()}: missing, though ${given.join()} is set`] : []
  })
}

function assemble(settings: LoadedConfiguration['settings']): PeragoConfiguration {
  const accessKeyId = settings['lakefs.accessKeyId'].value
  const secretAccessKey = settings['lakefs.secretAccessKey'].value
  const key = settings['conductor.authKey'].value
  const secret = settings['conductor.authSecret'].value
  return {
    lakefs: {
      endpoint: settings['lakefs.endpoint'].value,
      credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined,
      connections: settings['lakefs.connections'].value ?? SETTINGS['lakefs.connections'].fallback,
      fence: settings['lakefs.fence'].value ?? SETTINGS['lakefs.fence'].fallback,
    },
    conductor: {
      serverUrl: settings['conductor.serverUrl'].value,
      auth: key && secret ? { key, secret } : undefined,
    },
    ledger: {
      onRetry: settings['ledger.onRetry'].value ?? SETTINGS['ledger.onRetry'].fallback,
      keys: settings['ledger.keys'].value,
    },
    results: { secrets: settings['results.secrets'].value ?? SETTINGS['results.secrets'].fallback },
    log: {
      level: settings['log.level'].value ?? SETTINGS['log.level'].fallback,
      format: settings['log.format'].value ?? SETTINGS['log.format'].fallback,
    },
  }
}

function assembleCore(settings: LoadedConfiguration['settings']): CoreConfiguration {
  return {
    storeAddress: settings['store.address'].value,
    storeKeys: settings['store.keys'].value,
    compress: settings['store.compress'].value ?? SETTINGS['store.compress'].fallback,
    archiveAddress: settings['archive.address'].value,
    retention: {
      eventsMs: settings['retention.events'].value ?? SETTINGS['retention.events'].fallback,
      variablesMs: settings['retention.variables'].value ?? SETTINGS['retention.variables'].fallback,
      checkpointsMs: settings['retention.checkpoints'].value ?? SETTINGS['retention.checkpoints'].fallback,
    },
  }
}
