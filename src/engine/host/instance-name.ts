/**
 * How an instance is named in the lease that it holds, so that another one can tell that it has ended and need not wait for the
 * lease to expire. If it is wrong about this, two instances run for a moment, as after a stall: each step is written under the
 * condition that nobody else wrote one, so neither loses or repeats anything.
 */

import { randomUUID } from 'node:crypto'
import { hasCertainlyEnded, identifyThisProcess, type ProcessIdentity } from '../../base/process-identity.ts'

export async function nameThisInstance(): Promise<string> {
  return JSON.stringify({ id: randomUUID(), process: await identifyThisProcess() })
}

/** Whether the process of a named instance has certainly ended. */
export async function hasInstanceEnded(name: string): Promise<boolean> {
  const identity = readIdentity(name)
  return identity !== undefined && (await hasCertainlyEnded(identity))
}

/** `undefined` where an instance of another release wrote something else. */
function readIdentity(name: string): ProcessIdentity | undefined {
  try {
    const { process: found } = JSON.parse(name) as { readonly process?: Partial<ProcessIdentity> }
    const isWhole =
      Number.isInteger(found?.pid) &&
      [found?.processStart, found?.machine, found?.pidNamespace].every((part) => typeof part === 'string')
    return isWhole ? (found as ProcessIdentity) : undefined
  } catch {
    return undefined
  }
}
