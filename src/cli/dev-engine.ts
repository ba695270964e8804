/** What only the engine of `perago dev` can do: requests to its own routes, answered with documents or its errors. */

import { resolve } from 'node:path'
import { DefectError, InvalidError, UncertainError, messageOf } from '../base/errors.ts'
import { readToldError } from '../base/told-error.ts'
import { DEV_DATA_DIR } from './options.ts'
import { readServerAddress } from './server-address.ts'
import type { Terminal } from './terminal.ts'

export interface DevEngine {
  /** Throws what the engine answers with. */
  ask<T>(path: string, body?: object): Promise<T>
}

/** Throws `cli/no-engine` where no `perago dev` runs. */
export async function findDevEngine(terminal: Terminal): Promise<DevEngine> {
  const url = await readServerAddress(resolve(terminal.directory, DEV_DATA_DIR))
  if (url === undefined) {
    throw new InvalidError('cli/no-engine', 'find the engine of this directory: none runs', {
      next: 'Start "perago dev MODULE" in this directory. A real Conductor has no checkpoints, and cannot roll back.',
    })
  }
  return {
    ask: async <T>(path: string, body?: object): Promise<T> => {
      const response = await send(`${url}${path}`, body)
      const document: unknown = await response.json().catch(() => undefined)
      if (response.ok) return document as T
      throw (
        readToldError(document, { read: 'the execution' }) ??
        new DefectError('cli/strange-answer', `read an answer of the engine: status ${response.status}`)
      )
    },
  }
}

async function send(url: string, body: object | undefined): Promise<Response> {
  try {
    return await fetch(
      url,
      body === undefined
        ? {}
        : {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(body),
          },
    )
  } catch (error) {
    throw new UncertainError('cli/engine-gone', `ask the engine of this directory: ${messageOf(error)}`, {
      read: 'the execution',
      cause: error,
    })
  }
}
