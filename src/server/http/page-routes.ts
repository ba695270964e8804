/** The page in a browser. It holds no data, so nobody has to be known for it. */

import type { Hono } from 'hono'
import { fileURLToPath } from 'node:url'
import type { Logger } from '../../base/logger.ts'
import type { Redactor } from '../../base/redaction.ts'
import type { HttpEnvironment } from './environment.ts'
import { logFailure } from './log-failure.ts'
import { accepts, chooseBody, isPagePath, openPageFiles, type PageFile } from './page-files.ts'
import { renderFailure } from './render-failure.ts'

/** Where the build of the package puts the page. */
export const BUILT_PAGE = fileURLToPath(new URL('../../../dist/web/', import.meta.url))

/** Should a text of somebody's data ever become part of the page, it runs nothing and reaches nobody. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const SAFE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
}

export interface PageRoutesParts {
  /** The directory of the page. */
  readonly files: string
  readonly logger: Logger
  readonly redactor: Redactor
}

/** Before everything that needs a known caller. */
export function addPageRoutes(
  app: Hono<HttpEnvironment>,
  { files: directory, logger, redactor }: PageRoutesParts,
): void {
  const files = openPageFiles(directory)
  app.use(async (asked, next) => {
    const { raw } = asked.req
    if (!isForPage({ method: raw.method, path: asked.req.path, accept: raw.headers.get('accept') })) {
      return next()
    }
    asked.env.visit?.enter('anybody')
    const answered = files.find(asked.req.path === '/' ? '/index.html' : asked.req.path).then(
      (file) => showFile(file, raw),
      (error: unknown) => {
        logFailure(logger, error, raw)
        return renderFailure(error, redactor)
      },
    )
    const response = await answered
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.headers.set(name, value)
    return response
  })
}

export interface PageRequest {
  readonly method: string
  readonly path: string
  readonly accept: string | null
}

/** Programs that ask for `/` get what they got before there was a page. */
export function isForPage({ method, path, accept }: PageRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  if (path === '/') return accepts(accept ?? '', 'text/html')
  return isPagePath(path)
}

function showFile(file: PageFile, { method, headers }: Request): Response {
  const { bytes, etag, coding } = chooseBody(file, headers.get('accept-encoding') ?? '')
  const about = {
    etag,
    'cache-control': file.isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept, accept-encoding',
  }
  if (isKnown(headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: about })
  return new Response(method === 'HEAD' ? null : bytes, {
    headers: {
      ...about,
      'content-type': file.type,
      'content-length': String(bytes.length),
      ...(coding === undefined ? {} : { 'content-encoding': coding }),
    },
  })
}

function isKnown(header: string | null, etag: string): boolean {
  const known = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return known.includes(etag) || known.includes('*')
}
