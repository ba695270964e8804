/** What people see of a lakeFS: repositories, branches, commits, changes and objects, page by page. Only reads. */

import { isPeragoError, MissingError, UnavailableError, type PeragoError } from '../../base/errors.ts'
import { repositoryName, type BranchName, type CommitRef } from '../../base/ids.ts'
import type { Logger } from '../../base/logger.ts'
import { once } from '../../base/once.ts'
import { openLakefsBrowser, type LakefsBrowser } from '../../lakefs/browse.ts'
import type { LakefsClient } from '../../lakefs/client.ts'
import { openLakefsRepo } from '../../lakefs/versioned-repo.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'
import { openLakefs } from '../connections/lakefs-connection.ts'

export interface RepositoryView extends LakefsBrowser {
  /** A part of an object. Throws `runtime/no-such-object`. */
  readObject(place: ObjectPart): Promise<{ readonly bytes: Buffer; readonly sizeBytes: number }>
  /** May be called twice. */
  close(): Promise<void>
}

export interface ObjectPart {
  readonly repository: string
  /** A branch, a tag or a commit. */
  readonly at: string
  readonly path: string
  readonly start: number
  readonly length: number
  readonly signal?: AbortSignal | undefined
}

/** Sends nothing yet. */
export function openRepositoryView(
  configuration: Pick<PeragoConfiguration, 'lakefs'>,
  { logger }: { readonly logger: Logger },
): RepositoryView {
  const client = openLakefs(configuration, { logger })
  const browser = openLakefsBrowser(client)
  return {
    repositories: (request) => told(browser.repositories(request)),
    branches: (repository, request) => told(browser.branches(repository, request)),
    tags: (repository, request) => told(browser.tags(repository, request)),
    commits: (repository, request) => told(browser.commits(repository, request)),
    changes: (repository, request) => told(browser.changes(repository, request)),
    objects: (repository, request) => told(browser.objects(repository, request)),
    readObject: (part) => told(readObject(client, part)),
    close: once(() => client.close()),
  }
}

async function readObject(
  client: LakefsClient,
  { repository, at, path, start, length, signal }: ObjectPart,
): Promise<{ readonly bytes: Buffer; readonly sizeBytes: number }> {
  const repo = openLakefsRepo(client, repositoryName(repository))
  // The server takes any of them where it takes a commit.
  const ref = at as CommitRef | BranchName
  const stat = await repo.stat(ref, path, { signal })
  const end = Math.min(start + length, stat?.sizeBytes ?? 0) - 1
  if (stat !== undefined && end < start) return { bytes: Buffer.alloc(0), sizeBytes: stat.sizeBytes }
  const opened = stat && (await repo.read(ref, path, { signal, range: { start, end } }))
  if (stat === undefined || opened === undefined) throw noSuchObject(path, at)
  const pieces: Buffer[] = []
  for await (const piece of opened.body) pieces.push(piece as Buffer)
  return { bytes: Buffer.concat(pieces), sizeBytes: stat.sizeBytes }
}

function isOurs({ kind, code }: PeragoError): boolean {
  return kind === 'refused' || code === 'lakefs/unauthorized' || code === 'lakefs/not-lakefs'
}

/** Whoever looks has no part in what the lakeFS refuses this server. */
async function told<T>(looking: Promise<T>): Promise<T> {
  try {
    return await looking
  } catch (cause) {
    if (!isPeragoError(cause) || !isOurs(cause)) throw cause
    throw new UnavailableError('runtime/lakefs-refused', `look at lakeFS: ${cause.message}`, {
      cause,
      next: 'Correct the credentials of lakeFS that the server was given.',
    })
  }
}

function noSuchObject(path: string, at: string): MissingError {
  return new MissingError(
    'runtime/no-such-object',
    `read ${JSON.stringify(path)} at "${at}": it does not exist`,
    {
      next: 'Look at the objects of that commit.',
    },
  )
}
