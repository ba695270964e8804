/** One embedded server for the tests of a file, and one repository per test. */

import { afterAll, beforeAll } from 'vitest'

import {
  startEmbeddedLakefs,
  type EmbeddedLakefs,
  type EmbeddedLakefsOptions,
} from '../../src/embedded/lakefs/server.ts'
import { LakefsRequests } from './lakefs-requests.ts'

export interface EmbeddedLakefsOfFile {
  readonly server: EmbeddedLakefs
  /** A new repository with one default branch, `main`. */
  open(): Promise<LakefsRequests>
  /** Speaks of a repository that was not made. */
  unmade(): LakefsRequests
}

export function useEmbeddedLakefs(options: EmbeddedLakefsOptions = {}): EmbeddedLakefsOfFile {
  let server: EmbeddedLakefs | undefined
  const clients: LakefsRequests[] = []
  let count = 0

  beforeAll(async () => {
    server = await startEmbeddedLakefs(options)
  })

  afterAll(async () => {
    for (const client of clients) client.close()
    await server?.close()
  })

  const running = (): EmbeddedLakefs => {
    if (server === undefined) throw new Error('the server of this file is not started yet')
    return server
  }
  const unmade = (): LakefsRequests => {
    count += 1
    const client = new LakefsRequests(running(), `repo-${String(count)}`)
    clients.push(client)
    return client
  }
  return {
    get server() {
      return running()
    },
    unmade,
    open: () => unmade().create(),
  }
}
