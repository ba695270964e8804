/** The server itself: health, set-up, login, configuration. What clients ask when they start. */

import { empty, failure, json, text as plainText, type Answer } from './answer.ts'
import type { Exchange, ReadBody } from './exchange.ts'
import { objectOf, text } from './json-body.ts'

/**
 * The lakeFS release whose behaviour was measured and is reproduced: clients that look at the version then do the
 * right thing. The suffix says that it is not that release.
 */
const LAKEFS_VERSION = '1.84.0+perago'

const VERSION_CONFIG = { version: LAKEFS_VERSION, version_context: 'lakeFS' }

export function healthCheck(): Answer {
  return empty(204)
}

export function getSetupState(): Answer {
  return json(200, {
    state: 'initialized',
    comm_prefs_missing: false,
    login_config: {
      RBAC: 'none',
      login_url: '',
      login_url_method: 'none',
      login_failed_message: "The credentials don't match.",
      login_cookie_names: ['internal_auth_session'],
      logout_url: '',
    },
  })
}

/** Any JSON object; what is in it is not used. */
export const ANYTHING = objectOf({})
export const SETUP = objectOf({ username: text })

export async function setup(_exchange: Exchange, readBody: ReadBody<typeof SETUP>): Promise<Answer> {
  await readBody()
  return failure(409, 'lakeFS already initialized')
}

export async function setupCommPrefs(
  _exchange: Exchange,
  readBody: ReadBody<typeof ANYTHING>,
): Promise<Answer> {
  await readBody()
  return failure(409, 'lakeFS already initialized')
}

export const LOGIN = objectOf({ access_key_id: text, secret_access_key: text })

export async function login(exchange: Exchange, readBody: ReadBody<typeof LOGIN>): Promise<Answer> {
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = await readBody()
  const { parts, callerAddress } = exchange
  const granted = parts.authenticator.login({ accessKeyId, secretAccessKey }, callerAddress)
  if (granted === undefined) return failure(401, 'error authenticating request')
  return json(200, { token: granted.token, token_expiration: Math.floor(granted.expiresAt / 1000) })
}

export function getCurrentUser({ parts }: Exchange): Answer {
  return json(200, {
    user: { id: parts.userId, creation_date: parts.startedAt, email: '', friendly_name: '' },
  })
}

export function getAuthCapabilities(): Answer {
  return json(200, { invite_user: false })
}

export function getConfig(exchange: Exchange): Answer {
  return json(200, {
    capabilities_config: {},
    storage_config: storageConfig(exchange),
    storage_config_list: [],
    ui_config: {},
    version_config: VERSION_CONFIG,
  })
}

export function getStorageConfig(exchange: Exchange): Answer {
  return json(200, storageConfig(exchange))
}

export function getLakeFSVersion(): Answer {
  return json(200, VERSION_CONFIG)
}

export function getGarbageCollectionConfig(): Answer {
  return json(200, { grace_period: 86_400 })
}

/** Clients report how they are used; the report is read and not stored. */
export async function postStatsEvents(
  _exchange: Exchange,
  readBody: ReadBody<typeof ANYTHING>,
): Promise<Answer> {
  await readBody()
  return empty(204)
}

export function serverHealth(): Answer {
  return plainText(200, 'alive!')
}

function storageConfig({ parts }: Exchange): object {
  return {
    blockstore_description: '',
    blockstore_id: '',
    blockstore_namespace_ValidityRegex: '^(s3|gs|https?|mem|local|transient)://',
    blockstore_namespace_example: 'local://example-bucket/',
    blockstore_type: 'local',
    default_namespace_prefix: 'local://',
    import_support: false,
    import_validity_regex: '^local://',
    pre_sign_multipart_upload: parts.presign,
    pre_sign_support: parts.presign,
    pre_sign_support_ui: false,
  }
}
