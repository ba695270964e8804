// Repositories for a bench, filled and read through our client.
import { randomBytes } from 'node:crypto'
import { branchName, repositoryName } from '../../dist/base/ids.js'
import { createRepository } from '../../dist/lakefs/administration.js'
import { createLakefsClient } from '../../dist/lakefs/client.js'
import { openLakefsRepo } from '../../dist/lakefs/versioned-repo.js'
import { contentOf, pathOf } from './contents.mjs'

export const PREFIX = 'data/'
const MAIN = branchName('main')
const UPLOADS_AT_ONCE = 32

export async function openDatasets(lakefs) {
  const client = createLakefsClient({ endpoint: lakefs.url, ...lakefs.keys })
  const salt = randomBytes(3).toString('hex')
  const openRepository = async (name) => {
    const repository = repositoryName(`bench-${salt}-${name}`)
    const base = lakefs.namespace.endsWith('://')
      ? lakefs.namespace
      : `${lakefs.namespace.replace(/\/$/, '')}/`
    const storageNamespace = `${base}${repository}`
    await createRepository(client, { repository, storageNamespace, defaultBranch: MAIN })
    return { repository, repo: openLakefsRepo(client, repository) }
  }
  return {
    client,
    /** A repository without files. */
    empty: (name) => openRepository(name),
    /** A repository with this many files on its main branch; the last one may have another size. */
    async create(name, { files, sizeBytes, lastBytes = sizeBytes, seed = 'first' }) {
      const { repository, repo } = await openRepository(name)
      const indexes = Array.from({ length: files }, (_, index) => index).values()
      const lane = async () => {
        for (const index of indexes) {
          const path = pathOf(index)
          const bytes = contentOf(seed, path, sizeOf({ files, sizeBytes, lastBytes }, index))
          await repo.write({
            branch: MAIN,
            path: `${PREFIX}${path}`,
            body: { sizeBytes: bytes.length, open: () => bytes },
            contentType: 'text/plain',
          })
        }
      }
      await Promise.all(Array.from({ length: Math.min(UPLOADS_AT_ONCE, files) }, lane))
      const { commit } = await repo.commit({ branch: MAIN, message: `${files} files of ${sizeBytes} bytes` })
      return { repository, repo, ref: commit.ref, files, sizeBytes, lastBytes, seed }
    },
    async branch({ repo, ref }, name) {
      const branch = branchName(name)
      await repo.createBranch({ branch, from: ref })
      return branch
    },
    close: () => client.close(),
  }
}

export function sizeOf({ files, sizeBytes, lastBytes }, index) {
  return index === files - 1 ? lastBytes : sizeBytes
}

export async function readBytes(repo, ref, path) {
  const opened = await repo.read(ref, path)
  if (opened === undefined) throw new Error(`${path} is not there at ${ref}`)
  const parts = []
  for await (const part of opened.body) parts.push(part)
  return Buffer.concat(parts)
}
