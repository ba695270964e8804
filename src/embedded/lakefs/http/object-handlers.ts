/** Objects: their entries, listings, uploads and deletions. Downloads are next door. */

import { EMBEDDED_BATCH_DELETE_MAX_PATHS } from '../../limits.ts'
import { EngineError, type Entry } from '../engine/engine.ts'
import { empty, failure, HttpProblem, json, type Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { renderEntry, renderListed, renderPage } from './renderings.ts'
import { REASON_STATUS } from './statuses.ts'
import { receiveUpload } from './uploaded-body.ts'
import { presignEntry } from './presigned-entries.ts'

/** Headers that carry user metadata, and what their keys begin with: `lakectl local` keeps a file's times this way. */
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
  return json(200, isPresigned ? { ...shown, ...presignEntry(exchange, entry) } : shown)
}

export function listObjects(exchange: Exchange): Answer {
  const { engine, query, repository, ref } = exchange
  const delimiter = query.text('delimiter') ?? ''
  const options = { userMetadata: query.flag('user_metadata') ?? true }
  const isPresigned = query.flag('presign') ?? false
  const page = engine.list(repository, ref, { ...query.page(), ...(delimiter === '' ? {} : { delimiter }) })
  return renderPage(
    page,
    (listed) => listed.path,
    (listed) => {
      const shown = renderListed(listed, options)
      return isPresigned && listed.kind === 'object' ? { ...shown, ...presignEntry(exchange, listed) } : shown
    },
  )
}

export function getUnderlyingProperties({ engine, query, repository, ref }: Exchange): Answer {
  engine.stat(repository, ref, query.required('path'))
  return json(200, { storage_class: null })
}

export async function uploadObject(exchange: Exchange): Promise<Answer> {
  const { engine, parts, query, repository, branch } = exchange
  const path = query.objectPath()
  query.flag('force')
  const ifAbsent = readCreateOnly(exchange)
  const metadata = readUserMetadata(exchange)
  // Looked at before the bytes are taken: a large upload to nowhere should fail at its first byte.
  refuseEarly(exchange, path, ifAbsent)

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
    metadata,
  }
  try {
    return json(201, renderEntry(await engine.putEntry({ repository, branch, entry, ifAbsent })))
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'object-exists') return pathExists()
    throw error
  }
}

export async function deleteObject({ engine, query, repository, branch }: Exchange): Promise<Answer> {
  const path = query.required('path')
  query.flag('force')
  await engine.deleteEntry(repository, branch, path)
  return empty(204)
}

export async function deleteObjects(exchange: Exchange): Promise<Answer> {
  const body = await exchange.fields()
  const paths = body.texts('paths')
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
    // Measured: a branch or repository that is not there deletes nothing and says so to nobody.
    if (!(error instanceof EngineError)) throw error
    if (error.reason !== 'branch-not-found' && error.reason !== 'repository-not-found') throw error
    return json(200, { errors: [] })
  }
}

export async function copyObject(exchange: Exchange): Promise<Answer> {
  const destination = exchange.query.objectPath('dest_path')
  const body = await exchange.fields()
  const sourcePath = body.requiredText('src_path')
  const sourceRef = body.text('src_ref') ?? exchange.branch
  body.flag('force')
  if (body.flag('shallow') === true) return failure(501, 'Not Implemented')
  const copied = await exchange.engine.copyEntry({
    repository: exchange.repository,
    branch: exchange.branch,
    destination,
    sourceRef,
    sourcePath,
  })
  return json(201, renderEntry(copied))
}

export async function updateObjectUserMetadata(exchange: Exchange): Promise<Answer> {
  const path = exchange.query.required('path')
  const body = await exchange.fields()
  const metadata = body.metadata('set')
  if (metadata === undefined)
    throw new HttpProblem(400, 'request body has an error: property "set" is missing')
  await exchange.engine.setUserMetadata({
    repository: exchange.repository,
    branch: exchange.branch,
    path,
    metadata,
  })
  return empty(204)
}

export function uploadObjectPreflight({ engine, query, repository }: Exchange): Answer {
  query.required('path')
  engine.getRepository(repository)
  return empty(204)
}

/** `If-None-Match: *` creates only; every other condition is one the real server does not know either. */
export function readCreateOnly(exchange: Exchange): boolean {
  const ifNoneMatch = exchange.header('if-none-match')
  if (exchange.header('if-match') !== undefined) throw new HttpProblem(501, 'Not Implemented')
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch !== '*') throw new HttpProblem(501, 'Not Implemented')
  return true
}

export function pathExists(): Answer {
  return failure(412, 'path already exists')
}

function readUserMetadata({ request }: Exchange): Record<string, string> {
  const metadata: [string, string][] = []
  for (const [name, value] of Object.entries(request.headers)) {
    const kind = METADATA_HEADERS.find(({ header }) => name.startsWith(header))
    if (kind === undefined || value === undefined) continue
    const shown = Array.isArray(value) ? value.join(', ') : value
    // Node reads header bytes as Latin-1; clients send UTF-8.
    const key = kind.key + name.slice(kind.header.length)
    metadata.push([key, Buffer.from(shown, 'latin1').toString('utf8')])
  }
  return Object.fromEntries(metadata)
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
