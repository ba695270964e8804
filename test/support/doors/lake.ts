// A repository "lake" on an embedded lakeFS, and what people see of it.
import { onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/base/logger.ts'
import { startEmbeddedLakefs } from '../../../src/embedded/lakefs/server.ts'
import { openRepositoryView, type RepositoryView } from '../../../src/runtime/views/repository-view.ts'

export interface Lake {
  readonly view: RepositoryView
  /** Writes an object on main and commits it; gives the commit. */
  readonly put: (path: string, content: string) => Promise<string>
}

export async function openLake(): Promise<Lake> {
  const server = await startEmbeddedLakefs({ repositories: ['lake'] })
  onTestFinished(() => server.close())
  const { accessKeyId, secretAccessKey, url } = server
  const lakefs = { endpoint: url, credentials: { accessKeyId, secretAccessKey }, connections: 2 }
  const view = openRepositoryView({ lakefs }, { logger: silentLogger })
  onTestFinished(() => view.close())
  const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`
  const send = async (path: string, body: string, type: string): Promise<Response> => {
    const response = await fetch(`${url}/api/v1/repositories/lake/branches/main/${path}`, {
      ...{ method: 'POST', body },
      headers: { authorization, 'content-type': type },
    })
    if (!response.ok) throw new Error(await response.text())
    return response
  }
  return {
    view,
    put: async (path, content) => {
      await send(`objects?path=${encodeURIComponent(path)}`, content, 'application/octet-stream')
      const made = await send('commits', JSON.stringify({ message: `put ${path}` }), 'application/json')
      return ((await made.json()) as { readonly id: string }).id
    },
  }
}
