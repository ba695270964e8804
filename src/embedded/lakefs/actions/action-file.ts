/** Action files: what they may contain, and which of them apply to an event. A file that cannot be read stops every update. */

import { matchesGlob, isGlob } from '../glob.ts'

const HOOK_EVENTS = ['pre-merge', 'post-merge', 'pre-commit', 'post-commit'] as const

/** Events of the real server that this one does not run. */
const OTHER_EVENTS: ReadonlySet<string> = new Set([
  'prepare-commit',
  ...['create-branch', 'delete-branch', 'create-tag', 'delete-tag', 'revert', 'cherry-pick'].flatMap(
    (event) => [`pre-${event}`, `post-${event}`],
  ),
])

export interface ActionHook {
  readonly id: string
  readonly type: 'lua' | 'webhook' | 'airflow'
  readonly if: string
  readonly properties: Readonly<Record<string, unknown>>
}

export interface Action {
  readonly name: string
  /** Event to branch patterns; none means every branch. */
  readonly on: ReadonlyMap<string, readonly string[]>
  readonly hooks: readonly ActionHook[]
}

/** Checks what one file says; throws an `Error` that says what is wrong with it. */
export function readAction(document: unknown): Action {
  const file = asRecord(document, 'the file')
  const name = file['name']
  if (typeof name !== 'string' || name === '') throw new Error("'name' is required: invalid action")
  if (!/^\w[\w\-. ]+$/.test(name)) throw new Error("'name' is invalid: invalid action")
  const on = readEvents(file['on'])
  const hooks = asList(file['hooks'], "'hooks'").map(readHook)
  const ids = new Set<string>()
  for (const { id } of hooks) {
    if (ids.has(id)) throw new Error(`duplicate hook ID '${id}': invalid action`)
    ids.add(id)
  }
  return { name, on, hooks }
}

/** No two actions of one tree may share a name. */
export function checkActionNames(actions: readonly Action[]): void {
  const names = new Set<string>()
  for (const { name } of actions) {
    if (names.has(name)) throw new Error(`duplicate action name '${name}': invalid action`)
    names.add(name)
  }
}

export function appliesTo(action: Action, event: string, branch: string): boolean {
  const patterns = action.on.get(event)
  if (patterns === undefined) return false
  return patterns.length === 0 || patterns.some((pattern) => matchesGlob(pattern, branch))
}

/** Events that could stop something and are not run here: never ignored silently. */
export function unenforcedEvents(action: Action): readonly string[] {
  return [...action.on.keys()].filter((event) => OTHER_EVENTS.has(event) && !event.startsWith('post-'))
}

function readEvents(value: unknown): Map<string, readonly string[]> {
  const on = new Map<string, readonly string[]>()
  for (const [event, condition] of Object.entries(asRecord(value, "'on'"))) {
    if (!OTHER_EVENTS.has(event) && !HOOK_EVENTS.some((known) => known === event)) {
      throw new Error(`event '${event}' is not supported: invalid action`)
    }
    const branches = condition === null ? undefined : asRecord(condition, `'on.${event}'`)['branches']
    const patterns = asList(branches, `'on.${event}.branches'`).map((pattern) => {
      if (typeof pattern !== 'string' || !isGlob(pattern)) {
        throw new Error(`'on.${event}.branches': ${JSON.stringify(pattern)} is not a pattern: invalid action`)
      }
      return pattern
    })
    on.set(event, patterns)
  }
  if (on.size === 0) throw new Error("'on' is required: invalid action")
  return on
}

function readHook(value: unknown, index: number): ActionHook {
  const hook = asRecord(value, `hook[${String(index)}]`)
  const { id, type, properties } = hook
  if (typeof id !== 'string' || !/^[_a-zA-Z][-_a-zA-Z0-9]{1,255}$/.test(id)) {
    throw new Error(`hook[${String(index)}] missing ID: invalid action`)
  }
  if (type !== 'lua' && type !== 'webhook' && type !== 'airflow') {
    throw new Error(`hook[${String(index)}] type '${String(type)}' unknown: invalid action`)
  }
  if (type === 'lua' && (properties === undefined || properties === null)) {
    throw new Error(`hook[${String(index)}] type 'lua': missing hook properties: invalid action`)
  }
  const condition = hook['if'] ?? ''
  if (typeof condition !== 'string')
    throw new Error(`hook[${String(index)}] 'if' must be a string: invalid action`)
  return {
    id,
    type,
    if: condition.trim(),
    properties: properties === undefined || properties === null ? {} : asRecord(properties, "'properties'"),
  }
}

function asRecord(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what} must be a map: invalid action`)
  }
  return value as Readonly<Record<string, unknown>>
}

function asList(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw new Error(`${what} must be a list: invalid action`)
  return value as readonly unknown[]
}
