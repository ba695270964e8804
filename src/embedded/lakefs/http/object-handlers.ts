/** Objects: their entries, listings, uploads and deletions. Downloads are in download-handlers.ts. */

import { EMBEDDED_BATCH_DELETE_MAX_PATHS } from '../../limits.ts'
import { EngineError, type Entry } from '../engine/engine.ts'
import { empty, failure, HttpProblem, json, type Answer } from './answer.ts'
import type { Exchange, ReadBody } from './exchange.ts'
import { flag, listOf, metadata, objectOf, optional, text } from './json-body.ts'
import { renderEntry, renderListed, renderPage } from './renderings.ts'
import { REASON_STATUS } from './statuses.ts'
import { receiveUpload } from './uploaded-body.ts'

/** Headers that carry user metadata, and the prefix of their keys: `lakectl local` stores a file's times this way. */
const METADATA_HEADERS = [
  { header: 'x-lakefs-meta-', key: '' },
  { header: 'x-lakefs-internal-', key: '::lakefs::' },
] as const

export function statObject(exchange: Exchange): Answer {
  const path = exchange.query.required('path')
  const options = { userMetadata: exchange.query.flag('user_metadata') ?? true }
  const isPresigned = exchange.query.flag('presign') ?? false
  const entry = exchange.engine.stat(exchange.repository, exchange.ref, path)
  const shown = renderEntry(entry, options)
  return json(200, isPresigned ? { ...shown, ...exchange.presignEntry(entry) } : shown)
}

export function listObjects(exchange: Exchange): Answer {
  const { engine, query, repository, ref } = exchange
  const options = { userMetadata: query.flag('user_metadata') ?? true }
  const isPresigned = query.flag('presign') ?? false
  return renderPage(
    engine.list(repository, ref, query.delimitedPage()),
    (listed) => listed.path,
    (listed) => {
      const shown = renderListed(listed, options)
      return isPresigned && listed.kind === 'object' ? { ...shown, ...exchange.presignEntry(listed) } : shown
    },
  )
}

export function getUnderlyingProperties({ engine, query, repository, ref }: Exchange): Answer {
  engine.stat(repository, ref, query.required('path'))
  return json(200, { storage_class: null })
}

export async function uploadObject(exchange: Exchange): Promise<Answer> {
  const { engine, parts, query, repository, branch } = exchange
  const path = query.required('path')
  query.flag('force')
  const ifAbsent = readCreateOnly(exchange)
  // Checked before the bytes are read: a large upload to a missing branch should fail at its first byte.
  refuseEarly(exchange, path, ifAbsent)
  query.objectPath()

  const { contentType, result: blob } = await receiveUpload(
    exchange.request,
    parts.objectMaxBytes,
    (content) => engine.storeBlob(repository, content),
  )
  const entry: Entry = {
    path,
    physicalAddress: blob.physicalAddress,
    checksum: blob.md5,
    sizeBytes: blob.sizeBytes,
    modifiedAt: exchange.now(),
    contentType,
    metadata: readUserMetadata(exchange),
  }
  return json(
    201,
    renderEntry(await engine.putEntry({ repository, branch, entry, ifAbsent, isUnique: true })),
  )
}

export async function deleteObject({ engine, query, repository, branch }: Exchange): Promise<Answer> {
  const path = query.required('path')
  query.flag('force')
  await engine.deleteEntry(repository, branch, path)
  return empty(204)
}

export const PATHS = objectOf({ paths: listOf(text) })

export async function deleteObjects(exchange: Exchange, readBody: ReadBody<typeof PATHS>): Promise<Answer> {
  const { paths } = await readBody()
  exchange.query.flag('force')
  if (paths.length > EMBEDDED_BATCH_DELETE_MAX_PATHS) {
    return failure(
      400,
      `request size exceeded, max paths is set to ${String(EMBEDDED_BATCH_DELETE_MAX_PATHS)}`,
    )
  }
  try {
    const refusals = await exchange.engine.deleteEntries(exchange.repository, exchange.branch, paths)
    return json(200, {
      errors: refusals.map(({ path, reason, message }) => ({
        message,
        path,
        status_code: REASON_STATUS[reason],
      })),
    })
  } catch (error) {
    // Measured: for a branch or repository that is not there, nothing is deleted and no error is reported.
    if (!(error instanceof EngineError)) throw error
    if (error.reason !== 'branch-not-found' && error.reason !== 'repository-not-found') throw error
    return json(200, { errors: [] })
  }
}

export const COPY = objectOf({
  src_path: text,
  src_ref: optional(text),
  force: optional(flag),
  shallow: optional(flag),
})

export async function copyObject(exchange: Exchange, readBody: ReadBody<typeof COPY>): Promise<Answer> {
  const destination = exchange.query.objectPath('dest_path')
  const body = await readBody()
  if (body.shallow === true) return failure(501, 'Not Implemented')
  const copied = await exchange.engine.copyEntry({
    repository: exchange.repository,
    branch: exchange.branch,
    destination,
    sourceRef: body.src_ref ?? exchange.branch,
    sourcePath: body.src_path,
  })
  return json(201, renderEntry(copied))
}

export const USER_METADATA = objectOf({ set: metadata })

export async function updateObjectUserMetadata(
  exchange: Exchange,
  readBody: ReadBody<typeof USER_METADATA>,
): Promise<Answer> {
  const path = exchange.query.required('path')
  const { set } = await readBody()
  const { engine, repository, branch } = exchange
  await engine.setUserMetadata({ repository, branch, path, metadata: set })
  return empty(204)
}

export function uploadObjectPreflight({ engine, query, repository }: Exchange): Answer {
  query.required('path')
  engine.getRepository(repository)
  return empty(204)
}

/** `If-None-Match: *` creates only; the real server does not support any other condition either. */
export function readCreateOnly(exchange: Exchange): boolean {
  const ifNoneMatch = exchange.header('if-none-match')
  if (exchange.header('if-match') !== undefined) throw new HttpProblem(501, 'Not Implemented')
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch !== '*') throw new HttpProblem(501, 'Not Implemented')
  return true
}

function readUserMetadata({ request }: Exchange): Record<string, string> {
  const found: [string, string][] = []
  for (const [name, value] of Object.entries(request.headers)) {
    const kind = METADATA_HEADERS.find(({ header }) => name.startsWith(header))
    if (kind === undefined || value === undefined) continue
    const shown = Array.isArray(value) ? value.join(', ') : value
    // Node reads header bytes as Latin-1; clients send UTF-8.
    const key = kind.key + name.slice(kind.header.length)
    found.push([key, Buffer.from(shown, 'latin1').toString('utf8')])
  }
  return Object.fromEntries(found)
}

function refuseEarly({ engine, repository, branch }: Exchange, path: string, ifAbsent: boolean): void {
  try {
    engine.getBranch(repository, branch)
  } catch (error) {
    if (!(error instanceof EngineError) || error.reason !== 'branch-not-found') throw error
    throw new HttpProblem(404, `branch '${branch}' not found`)
  }
  if (!ifAbsent) return
  try {
    engine.stat(repository, branch, path)
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'object-not-found') return
    throw error
  }
  throw new HttpProblem(412, 'path already exists')
}
