/** One owner for each root: whoever starts workers in it holds its lock, which is released when its process ends. */

import { join } from 'node:path'
import { InvalidError, messageOf, RefusedError } from '../../base/errors.ts'
import { makeDirectory } from '../../base/make-directory.ts'
import { adoptOutboxes } from '../../worker/results/outbox.ts'
import { takeProcessLock, type ProcessLock } from '../../workspace/ownership/process-lock.ts'

/** Makes the directory if it is missing. Throws `runtime/root-taken` when somebody else has workers there. */
export async function takeRoot(directory: string): Promise<ProcessLock> {
  try {
    makeDirectory(directory)
  } catch (error) {
    throw new InvalidError(
      'runtime/bad-root',
      `start workers in ${JSON.stringify(directory)}: ${messageOf(error)}`,
      { next: 'Name a directory that this user may make and write.', cause: error },
    )
  }
  const lock = await takeProcessLock(join(directory, 'supervisor.lock'))
  if (lock === undefined) {
    throw new RefusedError(
      'runtime/root-taken',
      `start workers in ${JSON.stringify(directory)}: others run there`,
      { next: 'Stop them first, or give these a root of their own.' },
    )
  }
  try {
    await adoptOutboxes(directory)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}
