/** Data that is not as it was written. Never retried, and never taken for absent. */

import { DefectError } from '../base/errors.ts'

export interface Damage {
  /** The file or the kind of store. */
  readonly where: string
  readonly doing: string
  readonly what: string
  /** The key whose entry is damaged or missing, if it is known. */
  readonly key?: string | undefined
  readonly cause?: unknown
}

export function corruptStore({ where, doing, what, key, cause }: Damage): DefectError {
  return new DefectError('stores/corrupt', `${doing} (${where}): ${what}`, {
    details: { store: where, ...(key === undefined ? {} : { key }) },
    next: 'Stop writing to it, see with perago store verify what is damaged, and restore it from a copy. If it is no store of perago, name another file.',
    cause,
  })
}
