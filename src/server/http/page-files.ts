/**
 * The files of the page, read once.
 *
 * - PF-1 A request names a file of the listing or none: no part of it becomes part of a path.
 * - PF-2 What was read stays: a page and its parts are of one build.
 */

import { createHash } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { DefectError, MissingError } from '../../base/errors.ts'
import { PAGE_COMPRESSED_MIN_BYTES, PAGE_FILES_MAX, PAGE_MAX_BYTES } from '../limits.ts'

/** Compressions, in the order in which they are preferred. */
const CODINGS = ['br', 'gzip'] as const
type Coding = (typeof CODINGS)[number]

export interface PageFile {
  readonly type: string
  /** Its name changes with its content. */
  readonly isHashed: boolean
  readonly plain: PageBody
  readonly coded: Readonly<Partial<Record<Coding, PageBody>>>
}

export interface PageBody {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
  readonly coding?: Coding
}

/** What is served beside `assets/`. The licences go along with every copy of what they are for. */
const TOP: ReadonlySet<string> = new Set(['index.html', 'favicon.svg', 'licences.txt'])

/** Whether a page could have this file. */
export function isPagePath(path: string): boolean {
  return path.startsWith('/assets/') || TOP.has(path.slice(1))
}

export interface PageFiles {
  /** Throws `server/page-not-built` or `server/no-such-file`. */
  find(path: string): Promise<PageFile>
}

type Page = ReadonlyMap<string, PageFile>

/** Reads nothing yet. */
export function openPageFiles(directory: string): PageFiles {
  let reading: Promise<Page | undefined> | undefined
  const read = async (): Promise<Page | undefined> => {
    reading ??= readPage(directory)
    const page = await reading.catch((error: unknown) => {
      reading = undefined
      throw error
    })
    // It may be built while the server runs.
    if (page === undefined) reading = undefined
    return page
  }
  return {
    find: async (path) => {
      const page = await read()
      if (page === undefined) throw notBuilt()
      const file = page.get(path)
      if (file === undefined) throw noSuchFile()
      return file
    },
  }
}

/** What a client with this `Accept-Encoding` is sent. */
export function chooseBody({ plain, coded }: PageFile, accepted: string): PageBody {
  const body = CODINGS.filter((coding) => accepts(accepted, coding)).map((coding) => coded[coding])
  return body.find((one) => one !== undefined) ?? plain
}

/** Whether a header such as `Accept` names something, and does not refuse it with `q=0`. */
export function accepts(header: string, wanted: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    return name === wanted && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}
const COMPRESSIBLE = /^(?:text\/|image\/svg|application\/json)/
const SUFFIXES: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' }
const CODED = /\.(?:br|gz)$/
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/

/** `undefined`: there is none. */
async function readPage(directory: string): Promise<Page | undefined> {
  const top = (await listNames(directory)).filter((name) => TOP.has(name.replace(CODED, '')))
  if (!top.includes('index.html')) return undefined
  const assets = await listNames(join(directory, 'assets'))
  const names = [...top, ...assets.map((name) => `assets/${name}`)]
  await requireBounded(directory, names)
  const page = new Map<string, PageFile>()
  for (const name of names.filter((one) => !CODED.test(one))) {
    page.set(`/${name}`, await readPageFile(directory, name, new Set(names)))
  }
  return page
}

/** Plain files alone, no links. */
async function listNames(directory: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile() && PLAIN_NAME.test(entry.name)).map(({ name }) => name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function requireBounded(directory: string, names: readonly string[]): Promise<void> {
  let bytes = 0
  for (const name of names.slice(0, PAGE_FILES_MAX)) bytes += (await stat(join(directory, name))).size
  if (names.length <= PAGE_FILES_MAX && bytes <= PAGE_MAX_BYTES) return
  throw new DefectError(
    'server/page-too-large',
    `read the page: it has more than ${PAGE_FILES_MAX} files or ${PAGE_MAX_BYTES} bytes`,
    { details: { directory } },
  )
}

async function readPageFile(directory: string, name: string, names: ReadonlySet<string>): Promise<PageFile> {
  const content = await readFile(join(directory, name))
  const type = TYPES[extname(name)] ?? 'application/octet-stream'
  const coded: Partial<Record<Coding, PageBody>> = {}
  for (const coding of CODINGS) {
    const built = `${name}${SUFFIXES[coding]}`
    const bytes = names.has(built)
      ? await readFile(join(directory, built))
      : COMPRESSIBLE.test(type) && content.length >= PAGE_COMPRESSED_MIN_BYTES
        ? await compress(content, coding)
        : content
    if (bytes.length < content.length) coded[coding] = { ...bodyOf(bytes), coding }
  }
  return { type, isHashed: name.startsWith('assets/'), plain: bodyOf(content), coded }
}

function bodyOf(content: Buffer): PageBody {
  const digest = createHash('sha256').update(content).digest('base64url').slice(0, 22)
  return { bytes: Uint8Array.from(content), etag: `"${digest}"` }
}

/** Once for each file; the slowest step of Brotli would keep the first request waiting for seconds. */
function compress(content: Buffer, coding: Coding): Promise<Buffer> {
  if (coding === 'gzip') return promisify(gzip)(content)
  return promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 8 } })
}

function notBuilt(): MissingError {
  return new MissingError('server/page-not-built', 'show the page: it is not built', {
    next: 'Run "npm run build" in the checkout of perago, and load the page again.',
  })
}

function noSuchFile(): MissingError {
  return new MissingError('server/no-such-file', 'show the page: there is no such file of it', {
    next: 'Load the page again: the server may have another version of it now.',
  })
}
