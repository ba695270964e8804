/**
 * A staging branch that is begun while the task still works. Creating one takes longer than most requests, and an
 * attempt that was only just handed out is current: the answer of the poll says so. It stays empty until the attempt
 * fence was passed, and goes away with an attempt that publishes nothing.
 */

import { removeStaging } from './clean-up.ts'
import { openStaging, type EarlyStaging } from './open-staging.ts'
import { openSite, type SiteOrder } from './run.ts'

/** Begins at once, and waits for nothing. */
export function beginStaging(order: SiteOrder): EarlyStaging {
  const site = openSite(order)
  let mayBeOpen = false
  let isTaken = false
  const opening = openStaging(site, {
    mayBeOpen: () => {
      mayBeOpen = true
    },
  }).then(
    () => true,
    () => {
      // Cut off in the middle: nobody knows.
      if (order.signal?.aborted === true) mayBeOpen = true
      // The publication tries again, and says what is wrong.
      return false
    },
  )
  const removeIfAny = async (): Promise<void> => {
    if (mayBeOpen) await removeStaging(site)
  }
  return {
    async takeOver() {
      isTaken = true
      const isOpen = await opening
      if (!isOpen) await removeIfAny()
      return isOpen
    },
    async discard() {
      await opening
      if (!isTaken) await removeIfAny()
    },
  }
}
