// The lakeFS of a suite that can do with either: the real one where it is wanted (always with `CI=true`), else the embedded one.
import { randomBytes } from 'node:crypto'
import { repositoryName, type RepositoryName } from '../../../src/base/ids.ts'
import { openRealServer, RECIPES } from './servers.ts'

export interface SuiteLakefs {
  readonly url: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** A name and a namespace that nothing has used: a named server outlives the run, and namespaces are used up for ever. */
  newRepository(name: string): { readonly repository: RepositoryName; readonly storageNamespace: string }
  close(): Promise<void>
}

/** Fails where no lakeFS can be had. Building the real one takes minutes, once. */
export async function openSuiteLakefs(): Promise<SuiteLakefs> {
  const opened = await openRealServer(RECIPES.lakefs)
  if (!('url' in opened)) throw new Error(opened.reason)
  const { url, facts, close } = opened
  const { accessKeyId = '', secretAccessKey = '', storageNamespace = '' } = facts
  return suiteOf({ url, accessKeyId, secretAccessKey, storageNamespace, close })
}

export function suiteOf(
  server: Omit<SuiteLakefs, 'newRepository'> & { readonly storageNamespace: string },
): SuiteLakefs {
  const { url, accessKeyId, secretAccessKey, storageNamespace } = server
  return {
    url,
    accessKeyId,
    secretAccessKey,
    newRepository(name) {
      const repository = repositoryName(`${name}-${randomBytes(6).toString('hex')}`)
      return { repository, storageNamespace: `${storageNamespace.replace(/\/+$/, '')}/${repository}` }
    },
    close: () => server.close(),
  }
}
