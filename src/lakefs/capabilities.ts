/** What a server can do, as its configuration says. How bytes travel is decided by this, not by a setting. */

import type { CallOptions } from '../publication/ports.ts'
import type { Calls } from './calls.ts'
import type { components } from './generated/lakefs-api.ts'
import { flag, text, whole } from './readers.ts'

export interface Capabilities {
  /** As the server names it; a build from source can call itself anything. */
  readonly version: string
  readonly blockstoreType: string
  readonly defaultNamespacePrefix: string
  /** Bytes can be had and put without going through lakeFS. */
  readonly presign: boolean
  /** … and put in parts. */
  readonly presignMultipart: boolean
  /**
   * A checksum that looks like an MD5 is one. Object stores give checksums of their own making that may look alike
   * (an encrypted object's on S3 does), so there nothing is concluded from them.
   */
  readonly checksumIsMd5: boolean
}

export async function readCapabilities(calls: Calls, options: CallOptions = {}): Promise<Capabilities> {
  const call = { operation: 'getConfig', target: {}, signal: options.signal } as const
  const result = await calls.json(call, (api, init) => api.GET('/config', init), toCapabilities)
  const { version, ...capabilities } = result.value
  return { ...capabilities, version: version ?? (await readVersion(calls, options)) }
}

function toCapabilities(
  json: components['schemas']['Config'] | undefined,
): Omit<Capabilities, 'version'> & { readonly version: string | undefined } {
  const storage: Record<string, unknown> = whole(whole(json as unknown)['storage_config'])
  const blockstoreType = text(storage['blockstore_type'], 'storage_config.blockstore_type')
  const presign = flag(storage['pre_sign_support'])
  const version: unknown = json?.version_config?.version
  return {
    version: typeof version === 'string' ? version : undefined,
    blockstoreType,
    defaultNamespacePrefix:
      typeof storage['default_namespace_prefix'] === 'string' ? storage['default_namespace_prefix'] : '',
    presign,
    presignMultipart: presign && flag(storage['pre_sign_multipart_upload']),
    // Imported objects are known by a checksum that was made without reading them.
    checksumIsMd5: LOCAL_STORES.has(blockstoreType) && !flag(storage['import_support']),
  }
}

const LOCAL_STORES: ReadonlySet<string> = new Set(['local', 'mem'])

async function readVersion(calls: Calls, options: CallOptions): Promise<string> {
  const call = { operation: 'getLakeFSVersion', target: {}, signal: options.signal } as const
  const result = await calls.json(
    call,
    (api, init) => api.GET('/config/version', init),
    (json) => text(json?.version, 'version'),
  )
  return result.value
}
