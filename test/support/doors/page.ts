// A directory as the build of the page writes it, and requests as a browser sends them.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** What a browser accepts where somebody types an address. */
export const BROWSER = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' }

export const INDEX =
  '<!doctype html><title>perago</title><script type="module" src="/assets/index-4f3a9b2c.js"></script>'
export const SCRIPT = `document.title = 'perago'\n${'// a long page\n'.repeat(500)}`

export async function buildPage(more: Readonly<Record<string, string>> = {}): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'perago-page-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const files = {
    'web/index.html': INDEX,
    'web/favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'web/licences.txt': 'preact 10 (MIT)',
    'web/assets/index-4f3a9b2c.js': SCRIPT,
    'web/assets/index-77aa11bb.css': 'body { margin: 0 }',
    ...more,
  }
  await mkdir(join(directory, 'web/assets'), { recursive: true })
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text)
  return join(directory, 'web')
}

/** Sends a path exactly as it is written, which `fetch` does not, and gives everything that comes back. */
export function sendRaw(url: string, path: string): Promise<string> {
  const { hostname, port, host } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\naccept: text/html\r\nconnection: close\r\n\r\n`)
    })
    let got = ''
    socket.on('data', (chunk) => (got += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(got))
  })
}

/** Logs in as the page does with the key of its address; gives the headers of its further requests. */
export async function logInWithKey(url: string, key: string): Promise<Record<string, string>> {
  const origin = new URL(url).origin
  const own = { origin, 'sec-fetch-site': 'same-origin' }
  const response = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { ...own, 'content-type': 'application/json' },
    body: JSON.stringify({ address_key: key }),
  })
  if (!response.ok) throw new Error(await response.text())
  return { ...own, cookie: (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
}
