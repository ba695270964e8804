/** Who sends a request, and what they may do. Only doors know callers; the core and the webhooks know tenants. */

import { RefusedError } from '../../base/errors.ts'

export const ROLES = ['viewer', 'operator', 'admin'] as const
/** Each role may do what the one before it may. */
export type Role = (typeof ROLES)[number]

export interface Caller {
  /** A token's id, for logs and for counting requests. */
  readonly name: string
  /** The only tenant whose data this caller reaches; `undefined` is the default one. */
  readonly tenant: string | undefined
  readonly role: Role
}

/** The lowest role that has each right. */
const RIGHTS = {
  'read events and variables': 'viewer',
  'publish events': 'operator',
  'read executions and pipelines': 'viewer',
  'run executions': 'operator',
  'roll executions back': 'operator',
  'register pipelines': 'operator',
  'control schedules': 'operator',
  'work for the engine': 'operator',
  'look at repositories': 'viewer',
  'look at workflows': 'viewer',
  'control workflows': 'operator',
  'examine the server': 'viewer',
  'look at recoveries': 'viewer',
  'recover publications': 'operator',
  'manage webhooks': 'operator',
} as const satisfies Record<string, Role>

export type Right = keyof typeof RIGHTS

function isAllowed({ role }: Pick<Caller, 'role'>, right: Right): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(RIGHTS[right])
}

/** Throws `api/forbidden`. */
export function requireRight(caller: Caller, right: Right): void {
  if (isAllowed(caller, right)) return
  throw new RefusedError('api/forbidden', `${right}: the role ${caller.role} does not allow it`, {
    details: { role: caller.role, needed: RIGHTS[right] },
    next: `Use a token with the role ${RIGHTS[right]}.`,
  })
}
