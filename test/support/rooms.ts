// The direction of imports, as data: which room may import which. CONTRIBUTING.md shows the same table to people.
import { posix } from 'node:path'
import type { Import } from './source-tree.ts'

const ACTING = ['workspace', 'publication', 'worker', 'orchestrator']
const ADAPTERS = ['lakefs', 'conductor', 'stores']
const BELOW_RUNTIME = ['base', 'fences', 'core', ...ACTING, ...ADAPTERS]

interface RoomRule {
  readonly may: readonly string[]
  /** Rooms of which only the port files may be imported. */
  readonly portsOf?: readonly string[]
  /** Rooms of which only types may be imported. */
  readonly typesOf?: readonly string[]
}

export const ROOMS: Readonly<Record<string, RoomRule>> = {
  base: { may: [] },
  fences: { may: ['base'] },
  workspace: { may: ['base'] },
  core: { may: ['base'] },
  publication: { may: ['base', 'fences', 'workspace'] },
  worker: { may: ['base', 'fences', 'workspace', 'publication'] },
  orchestrator: { may: ['base', 'core'] },
  lakefs: { may: ['base'], portsOf: ['publication', 'worker', 'core'] },
  conductor: { may: ['base'], portsOf: ['publication', 'worker', 'core'] },
  stores: { may: ['base'], portsOf: ['publication', 'worker', 'core'] },
  runtime: { may: BELOW_RUNTIME },
  api: { may: ['base', 'runtime'], typesOf: ['core'] },
  server: { may: ['base', 'runtime', 'api'], typesOf: ['core'] },
  cli: { may: ['base', 'runtime', 'api', 'server', 'embedded'], typesOf: ['core'] },
  embedded: { may: ['base', 'core', 'orchestrator', 'stores'] },
  testing: { may: [...BELOW_RUNTIME, 'runtime', 'embedded'] },
  web: { may: [] },
}

/** Inside core: what each inner room may import of the others. Files of core itself stand below them all. */
export const INSIDE_CORE: Readonly<Record<string, readonly string[]>> = {
  namespaces: [],
  expressions: [],
  events: ['namespaces'],
  variables: ['namespaces'],
  'life-cycle': ['namespaces', 'events', 'variables'],
  dag: ['namespaces', 'expressions', 'events', 'variables', 'life-cycle'],
  plan: ['namespaces', 'expressions', 'events', 'variables', 'life-cycle', 'dag'],
  checkpoints: ['namespaces', 'expressions', 'events', 'variables', 'life-cycle', 'dag', 'plan'],
}

/** `undefined` when the import keeps to the table, else what is wrong with it. */
export function judgeImport(found: Import): string | undefined {
  if (found.to === undefined) return undefined
  const here = placeOf(found.from)
  const there = placeOf(found.to)
  // A package entry gathers the names of every room, one by one.
  if (here.room === undefined) return undefined
  const refuse = (why: string): string => `${found.from} imports ${found.to}: ${why}`
  if (there.room === undefined) return refuse('rooms do not import package entries')
  const rule = ROOMS[here.room]
  if (rule === undefined) return refuse(`the table has no room "${here.room}"`)
  if (here.room === there.room) {
    const inner = here.room === 'core' ? judgeInsideCore(here.inner, there.inner) : undefined
    return inner === undefined ? undefined : refuse(inner)
  }
  if (here.room === 'web') {
    if (found.to.includes('/generated/') && found.typeOnly) return undefined
    return refuse('web imports generated types only')
  }
  if (rule.may.includes(there.room)) return undefined
  if (rule.portsOf?.includes(there.room)) {
    return isPortFile(found.to)
      ? undefined
      : refuse('an adapter imports port files only (ports.ts, *-port.ts)')
  }
  if (rule.typesOf?.includes(there.room)) {
    return found.typeOnly ? undefined : refuse(`${here.room} imports only types of ${there.room}`)
  }
  return refuse(`${here.room} may not import ${there.room}`)
}

function judgeInsideCore(here: string | undefined, there: string | undefined): string | undefined {
  if (here === there || there === undefined) return undefined
  if (here === undefined) return 'files of core itself import no inner room'
  const allowed = INSIDE_CORE[here]
  if (allowed === undefined) return `the table has no inner room "core/${here}"`
  return allowed.includes(there) ? undefined : `core/${here} may not import core/${there}`
}

function isPortFile(path: string): boolean {
  return /(^|-)ports?\.ts$/.test(posix.basename(path))
}

function placeOf(path: string): { readonly room: string | undefined; readonly inner: string | undefined } {
  const [, room, inner, ...deeper] = path.split('/')
  if (inner === undefined) return { room: undefined, inner: undefined }
  return { room, inner: deeper.length > 0 ? inner : undefined }
}
