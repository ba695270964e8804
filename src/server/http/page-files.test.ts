// The files of the page over real HTTP, from a directory as its build writes it.
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { BROWSER, buildPage, INDEX, logInWithKey, SCRIPT, sendRaw } from '../../../test/support/doors/page.ts'
import { openLake } from '../../../test/support/doors/lake.ts'
import { serveWorld, type ServedOptions } from '../../../test/support/doors/serve.ts'
import { PAGE_FILES_MAX } from '../limits.ts'

const JS = '/assets/index-4f3a9b2c.js'
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
const SAFE = {
  'content-security-policy': CSP,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

async function serve(files: string, more: ServedOptions['page'] = {}): Promise<string> {
  const served = await serveWorld({ page: { files, ...more } })
  onTestFinished(() => served.close())
  return served.door.url
}

interface Plain {
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

/** Not `fetch`, which decompresses. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Plain> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, method, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject).end()
  })
}

test.each([
  ['/', 'text/html; charset=utf-8', 'no-cache', INDEX],
  ['/index.html', 'text/html; charset=utf-8', 'no-cache', INDEX],
  [JS, 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable', SCRIPT],
  ['/assets/index-77aa11bb.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable', 'body {'],
  ['/favicon.svg', 'image/svg+xml', 'no-cache', '<svg'],
  ['/licences.txt', 'text/plain; charset=utf-8', 'no-cache', 'MIT'],
])('DO-130 a browser without a token gets %s, under a strict policy', async (path, type, cached, text) => {
  const url = await serve(await buildPage())
  const got = await ask(`${url}${path}`, BROWSER)
  expect(got).toMatchObject({
    status: 200,
    headers: { ...SAFE, 'content-type': type, 'cache-control': cached, etag: expect.any(String) as string },
  })
  expect(String(got.body)).toContain(text)
  const head = await ask(`${url}${path}`, BROWSER, 'HEAD')
  expect(head).toMatchObject({ status: 200, headers: { ...SAFE, 'content-type': type } })
  expect([head.headers['content-length'], head.body.length]).toEqual([String(got.body.length), 0])
})

test('DO-130 whoever accepts no page, or changes something, is answered at / as before', async () => {
  const served = await serveWorld({ page: { files: await buildPage() } })
  onTestFinished(() => served.close())
  const { door, token } = served
  const known = { authorization: `Bearer ${token}` }
  for (const accept of ['*/*', 'application/json', 'text/html;q=0, */*']) {
    expect((await ask(door.url, { accept })).status).toBe(401)
    expect((await ask(door.url, { accept, ...known })).status).toBe(404)
  }
  expect((await ask(door.url, BROWSER, 'POST')).status).toBe(401)
  expect((await ask(door.url, { ...BROWSER, ...known }, 'POST')).status).toBe(404)
})

test.each([
  '/assets/../../package.json',
  '/assets/../../secret.txt',
  '/assets/%2e%2e/%2e%2e/secret.txt',
  '/assets/..%2f..%2fsecret.txt',
  '/assets/..%5c..%5csecret.txt',
  '/assets/%252e%252e%252fsecret.txt',
  '/../secret.txt',
  '//secret.txt',
  '/assets/link-4f3a9b2c.txt',
  '/assets/index-4f3a9b2c.js%00',
  '/assets/index-4f3a9b2c.js.br',
  '/assets/.hidden',
  '/assets/inner/deep.js',
  '/assets/',
  '/assets/__proto__',
  '/notes.txt',
])('DO-131 nothing but the files of the page is served: %s', async (path) => {
  const files = await buildPage({
    'secret.txt': 'a secret',
    'package.json': 'a secret',
    'web/notes.txt': 'a secret',
    'web/assets/.hidden': 'a secret',
    'web/assets/index-4f3a9b2c.js.br': 'a secret',
  })
  await mkdir(join(files, 'assets/inner'))
  await writeFile(join(files, 'assets/inner/deep.js'), 'a secret')
  await symlink(join(files, '../secret.txt'), join(files, 'assets/link-4f3a9b2c.txt'))
  const url = await serve(files)
  const got = await sendRaw(url, path)
  expect(got).toMatch(/^HTTP\/1\.1 40[014] /)
  expect(got).not.toContain('a secret')
  expect(await sendRaw(url, '/index.html')).toContain(INDEX)
})

test('DO-132 what a browser has is not sent again, and what it takes compressed is sent so', async () => {
  const url = await serve(await buildPage())
  const plain = await ask(`${url}${JS}`)
  const brotli = await ask(`${url}${JS}`, { 'accept-encoding': 'gzip, deflate, br' })
  const gzip = await ask(`${url}${JS}`, { 'accept-encoding': 'gzip;q=0.5, br;q=0' })
  expect([plain, brotli, gzip].map(({ headers }) => headers['content-encoding'])).toEqual([
    undefined,
    'br',
    'gzip',
  ])
  expect(String(brotliDecompressSync(brotli.body))).toBe(SCRIPT)
  expect(String(gunzipSync(gzip.body))).toBe(SCRIPT)
  const tags = [plain, brotli, gzip].map(({ headers }) => headers['etag'] as string)
  expect(new Set(tags).size).toBe(3)
  expect(brotli.headers['vary']).toContain('accept-encoding')

  const [, tag = ''] = tags
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    const again = await ask(`${url}${JS}`, { 'accept-encoding': 'br', 'if-none-match': known })
    expect(again).toMatchObject({ status: 304, headers: { ...SAFE, etag: tag } })
    expect(again.body.length).toBe(0)
  }
  const other = await ask(`${url}${JS}`, { 'accept-encoding': 'br', 'if-none-match': '"other"' })
  expect(other.status).toBe(200)
})

test('DO-132 files that the build compressed are sent as they are', async () => {
  const files = await buildPage()
  const built = brotliCompressSync(SCRIPT)
  await writeFile(join(files, 'assets/index-4f3a9b2c.js.br'), built)
  const got = await ask(`${await serve(files)}${JS}`, { 'accept-encoding': 'br' })
  expect(got.body.equals(built)).toBe(true)
})

test('DO-133 before the page is built, a browser is told what to do, and gets it once it is', async () => {
  const files = await buildPage()
  await rm(join(files, 'index.html'))
  const url = await serve(files)
  for (const path of ['/', '/index.html', JS]) {
    const missing = await ask(`${url}${path}`, BROWSER)
    expect(missing).toMatchObject({ status: 404, headers: { ...SAFE, 'content-type': 'application/json' } })
    expect(JSON.parse(String(missing.body))).toMatchObject({
      error: { code: 'server/page-not-built', next: expect.stringContaining('npm run build') as string },
    })
  }
  await writeFile(join(files, 'index.html'), INDEX)
  expect((await ask(url, BROWSER)).status).toBe(200)
  // From here on it is in memory.
  await rm(join(files, 'index.html'))
  expect((await ask(url, BROWSER)).status).toBe(200)
  const gone = await ask(`${url}/assets/index-00000000.js`, BROWSER)
  expect(gone).toMatchObject({ status: 404, headers: SAFE })
  expect(String(gone.body)).toContain('server/no-such-file')
})

test('DO-133 a directory with more files than a page may have is not read', async () => {
  const many = Array.from({ length: PAGE_FILES_MAX }, (_, at) => [`web/assets/f-${at}.js`, ''] as const)
  const url = await serve(await buildPage(Object.fromEntries(many)))
  const refused = await ask(url, BROWSER)
  expect(refused.status).toBe(500)
  expect(String(refused.body)).toContain('server/page-too-large')
})

test('DO-134 the key of the address opens a session, with which the page reads what the server shows', async () => {
  const { view, put } = await openLake()
  await put('a.csv', 'x')
  const url = await serve(await buildPage(), { keys: { address: 'the-key' }, repositories: view })
  expect((await ask(`${url}/repositories`)).status).toBe(401)
  const headers = await logInWithKey(url, 'the-key')
  const shown = await ask(`${url}/repositories`, headers)
  expect(JSON.parse(String(shown.body))).toMatchObject({ repositories: [{ name: 'lake' }] })
  await expect(logInWithKey(url, 'another')).rejects.toThrow('api/bad-token')
})
