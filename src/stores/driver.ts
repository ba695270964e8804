/** Drivers are optional peer dependencies, loaded when a store is opened. */

import { InvalidError } from '../base/errors.ts'

/**
 * Imports a driver; the error says what to install if it is missing.
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
