/** Parts of large packages, without the rest: their index loads much that is not used here, which takes time and memory. */

import { createRequire } from 'node:module'

const load = createRequire(import.meta.url)

/** A class by the file that has it alone; `undefined` where this version of the package has it elsewhere. */
export function loadPart(path: string): unknown {
  try {
    const part: unknown = load(path)
    return typeof part === 'function' ? part : undefined
  } catch {
    return undefined
  }
}
