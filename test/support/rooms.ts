// The direction of imports, as data: which room may import which. CONTRIBUTING.md shows the same table to people.
import { posix } from 'node:path'
import type { Import } from './source-tree.ts'

const BELOW_RUNTIME = [
  'base',
  'remote',
  'fences',
  'tasks',
  'core',
  'workspace',
  'publication',
  'worker',
  'engine',
  'webhooks',
  'lakefs',
  'conductor',
  'stores',
  'recovery',
]

interface RoomRule {
  readonly may: readonly string[]
  /** Rooms of which only the port files may be imported. */
  readonly portsOf?: readonly string[]
}

export const ROOMS: Readonly<Record<string, RoomRule>> = {
  base: { may: [] },
  remote: { may: ['base'] },
  fences: { may: ['base'] },
  tasks: { may: ['base'] },
  core: { may: ['base'] },
  workspace: { may: ['base', 'tasks'] },
  publication: { may: ['base', 'fences'] },
  worker: { may: ['base', 'fences', 'tasks', 'workspace', 'publication'] },
  engine: { may: ['base', 'core', 'tasks', 'fences'], portsOf: ['worker', 'publication'] },
  webhooks: { may: ['base', 'core'] },
  recovery: { may: ['base', 'fences', 'tasks', 'workspace', 'publication', 'worker'] },
  lakefs: { may: ['base', 'remote'], portsOf: ['publication'] },
  conductor: { may: ['base', 'remote'], portsOf: ['worker'] },
  stores: { may: ['base'], portsOf: ['core'] },
  client: { may: ['base'] },
  runtime: { may: BELOW_RUNTIME },
  server: { may: ['base', 'core', 'engine', 'webhooks', 'runtime'], portsOf: ['worker'] },
  cli: { may: ['base', 'core', 'engine', 'webhooks', 'recovery', 'runtime', 'server', 'embedded'] },
  embedded: { may: ['base'] },
  testing: { may: [...BELOW_RUNTIME, 'runtime', 'embedded'] },
  web: { may: [] },
}

/** Inside core: what each inner room may import of the others. Files directly in core are below all of them. */
export const INSIDE_CORE: Readonly<Record<string, readonly string[]>> = {
  records: [],
  namespaces: [],
  expressions: [],
  events: ['namespaces'],
  variables: ['namespaces', 'expressions'],
  'life-cycle': ['namespaces', 'events', 'variables', 'expressions'],
}

/** `undefined` if the table allows the import, otherwise what is wrong with it. */
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
      : refuse(`${here.room} imports port files of ${there.room} only (ports.ts, *-port.ts, *limits.ts)`)
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

/** The limits of a room are part of what its port promises. */
function isPortFile(path: string): boolean {
  return /(^|-)(ports?|limits)\.ts$/.test(posix.basename(path))
}

function placeOf(path: string): { readonly room: string | undefined; readonly inner: string | undefined } {
  const [, room, inner, ...deeper] = path.split('/')
  if (inner === undefined) return { room: undefined, inner: undefined }
  return { room, inner: deeper.length > 0 ? inner : undefined }
}
