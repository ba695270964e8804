/** What a server can do, as its configuration says; this decides which way bytes go. */

import type { components } from './generated/lakefs-api.ts'
import type { LakefsServer } from './operations.ts'
import { text, whole } from './readers.ts'

export interface Capabilities {
  /** As the server names it; a build from source can have any name. */
  readonly version: string
  readonly blockstoreType: string
  readonly defaultNamespacePrefix: string
  /** Bytes can be read and written without going through lakeFS. */
  readonly presign: boolean
  /** … and written in parts. */
  readonly presignMultipart: boolean
  /**
   * A checksum that looks like an MD5 is one. Object stores compute checksums of their own that may look alike (for
   * encrypted objects, S3 does), so there they are not compared.
   */
  readonly checksumIsMd5: boolean
}

export async function readCapabilities(server: LakefsServer, signal: AbortSignal): Promise<Capabilities> {
  const { value } = await server.call({ operation: 'getConfig', signal }, toCapabilities)
  const { version } = value
  if (version !== undefined) return { ...value, version }
  const asked = await server.call({ operation: 'getLakeFSVersion', signal }, (json) =>
    text(json.version, 'version'),
  )
  return { ...value, version: asked.value }
}

function toCapabilities(
  json: components['schemas']['Config'],
): Omit<Capabilities, 'version'> & { readonly version: string | undefined } {
  const storage: Record<string, unknown> = whole(whole(json as unknown)['storage_config'])
  const blockstoreType = text(storage['blockstore_type'], 'storage_config.blockstore_type')
  const presign = storage['pre_sign_support'] === true
  const version: unknown = json.version_config?.version
  const prefix = storage['default_namespace_prefix']
  return {
    version: typeof version === 'string' ? version : undefined,
    blockstoreType,
    defaultNamespacePrefix: typeof prefix === 'string' ? prefix : '',
    presign,
    presignMultipart: presign && storage['pre_sign_multipart_upload'] === true,
    // The checksum of an imported object was computed without reading its bytes.
    checksumIsMd5: LOCAL_STORES.has(blockstoreType) && storage['import_support'] !== true,
  }
}

const LOCAL_STORES: ReadonlySet<string> = new Set(['local', 'mem'])
