// A repository "lake" on an embedded lakeFS, and what people see of it.
import { onTestFinished } from 'vitest'
import { silentLogger } from '../../../src/base/logger.ts'
import { startEmbeddedLakefs } from '../../../src/embedded/lakefs/server.ts'
import { openRepositoryView, type RepositoryView } from '../../../src/runtime/views/repository-view.ts'

export interface Lake {
  readonly view: RepositoryView
  /** Writes an object on main and commits it; gives the commit. */
  put(path: string, content: string): Promise<string>
}

export async function openLake(): Promise<Lake> {
  const server = await startEmbeddedLakefs({ repositories: ['lake'] })
  onTestFinished(() => server.close())
  const { accessKeyId, secretAccessKey, url } = server
  const lakefs = { endpoint: url, credentials: { accessKeyId, secretAccessKey }, connections: 2 }
  const view = openRepositoryView({ lakefs }, { logger: silentLogger })
  onTestFinished(() => view.close())
  const authorization = `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const response = await fetch(`${url}/api/v1/repositories/lake/branches/main/${path}`, {
      ...init,
      method: 'POST',
      headers: { authorization, ...init.headers },
    })
    if (!response.ok) throw new Error(await response.text())
    return response
  }
  return {
    view,
    async put(path, content) {
      const headers = { 'content-type': 'application/octet-stream' }
      await send(`objects?path=${encodeURIComponent(path)}`, { body: content, headers })
      const body = JSON.stringify({ message: `put ${path}` })
      const made = await send('commits', { body, headers: { 'content-type': 'application/json' } })
      return ((await made.json()) as { readonly id: string }).id
    },
  }
}
