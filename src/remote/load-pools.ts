/**
 * The parts of undici that carry requests. All of it (fetch, cookies, web sockets) takes more than twice as long to load, and
 * nearly twice the memory.
 */

import type * as Undici from 'undici'
import { loadPart } from '../base/load-part.ts'

type Pools = Pick<typeof Undici, 'Agent' | 'Pool'>

export async function loadPool<Name extends keyof Pools>(name: Name): Promise<Pools[Name]> {
  const part = loadPart(`undici/lib/dispatcher/${name.toLowerCase()}.js`)
  return part === undefined ? (await import('undici'))[name] : (part as Pools[Name])
}
