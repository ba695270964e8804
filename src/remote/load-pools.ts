/**
 * The parts of undici that carry requests. All of it (fetch, cookies, web sockets) takes more than twice as long to load, and
 * nearly twice the memory.
 */

import { createRequire } from 'node:module'
import type * as Undici from 'undici'

type Pools = Pick<typeof Undici, 'Agent' | 'Pool'>

const load = createRequire(import.meta.url)

export async function loadPool<Name extends keyof Pools>(name: Name): Promise<Pools[Name]> {
  try {
    const part: unknown = load(`undici/lib/dispatcher/${name.toLowerCase()}.js`)
    if (typeof part === 'function') return part as Pools[Name]
  } catch {
    // A version that has it elsewhere.
  }
  return (await import('undici'))[name]
}
