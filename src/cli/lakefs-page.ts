/** The page of `perago lakefs`, on the port of the lakeFS that it shows. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { isLoopbackAddress } from '../base/listen.ts'
import type { Logger } from '../base/logger.ts'
import { once } from '../base/once.ts'
import type { EmbeddedLakefs } from '../embedded/lakefs/server.ts'
import { newPageKey, pageAddress } from './page-address.ts'
import { reachable } from './server-address.ts'
import type { Terminal } from './terminal.ts'

export interface LakefsPage {
  /** For the start of the server. */
  readonly fallback: (request: IncomingMessage, response: ServerResponse) => Promise<boolean>
  /** What the page shows, and where it is. */
  open(server: EmbeddedLakefs): string
  close(): Promise<void>
}

export interface LakefsPageOptions {
  readonly terminal: Terminal
  readonly logger: Logger
  /** The directory of the page; the one that was built unless given. */
  readonly files?: string
}

export function openLakefsPage({ terminal, logger, files }: LakefsPageOptions): LakefsPage {
  let opened: Awaited<ReturnType<typeof openListener>> | undefined
  let opening: (() => Promise<NonNullable<typeof opened>>) | undefined
  return {
    fallback: async (request, response) => {
      if (opening === undefined) return false
      opened = await opening()
      return opened.answer(request, response)
    },
    open: (server) => {
      // Beyond loopback it would be in the logs of a container; there the key pair opens the page.
      const key = isLoopbackAddress(server.host) ? newPageKey(terminal) : undefined
      // Loaded by the first request: most of those who start the server never look at the page.
      opening = once(() => openListener(server, { key, files, logger, terminal }))
      return pageAddress(server.url, key)
    },
    close: async () => opened?.close(),
  }
}

interface ListenerParts {
  readonly key: string | undefined
  readonly files: string | undefined
  readonly logger: Logger
  readonly terminal: Terminal
}

async function openListener(
  { url, accessKeyId, secretAccessKey }: EmbeddedLakefs,
  { key, files, logger, terminal }: ListenerParts,
) {
  const [{ openRepositoryView }, { openRecoveryView }, { buildPageListener }, { BUILT_PAGE }, limits] =
    await Promise.all([
      import('../runtime/views/repository-view.ts'),
      import('../runtime/views/recovery-view.ts'),
      import('../server/serve-page.ts'),
      import('../server/http/page-routes.ts'),
      import('../server/limits.ts'),
    ])
  const credentials = { accessKeyId, secretAccessKey }
  const lakefs = { endpoint: reachable(url), credentials, connections: limits.LOOKS_IN_FLIGHT }
  const repositories = openRepositoryView({ lakefs }, { logger })
  const recoveries = openRecoveryView({ configuration: { lakefs, conductor: NO_CONDUCTOR }, logger })
  const answer = buildPageListener({
    page: {
      ...{ files: files ?? BUILT_PAGE, keys: { address: key, lakefs: credentials } },
      ...{ repositories, recoveries },
    },
    logger,
    redactor: terminal.redactor,
  })
  const close = async (): Promise<void> => {
    await Promise.all([repositories.close(), recoveries.close()])
  }
  return { answer, close }
}

const NO_CONDUCTOR = { serverUrl: undefined, auth: undefined }
