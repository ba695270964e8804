/** Drivers are optional: whoever opens such a store installs its driver, and nobody else loads it. */

import { InvalidError } from '../base/errors.ts'

/**
 * Runs an import of a driver, and says what to install when it is not there.
 *
 * ```ts
 * const { Pool } = await loadDriver('pg@8', () => import('pg'))
 * ```
 */
export async function loadDriver<Driver>(install: string, load: () => Promise<Driver>): Promise<Driver> {
  try {
    return await load()
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw cause
    throw new InvalidError('stores/driver-missing', `open a store: its driver ${install} is not installed`, {
      next: `Run: npm install ${install}`,
      cause,
    })
  }
}
