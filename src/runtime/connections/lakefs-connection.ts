import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import { createLakefsClient, type LakefsClient, type LakefsClientOptions } from '../../lakefs/client.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'

/** A client for the configured lakeFS. Sends nothing yet; the caller closes it. */
export function openLakefs(
  { lakefs }: Pick<PeragoConfiguration, 'lakefs'>,
  options: Pick<LakefsClientOptions, 'retry' | 'onExchange' | 'availability'> & {
    readonly logger: Logger
    /** Instead of those configured. */
    readonly connections?: number
  },
): LakefsClient {
  const { endpoint, credentials, connections } = lakefs
  if (endpoint === undefined || credentials === undefined) {
    const missing =
      endpoint === undefined ? 'lakefs.endpoint is' : 'lakefs.accessKeyId and lakefs.secretAccessKey are'
    throw new InvalidError('runtime/no-lakefs', `connect to lakeFS: ${missing} not set`, {
      next: 'Set them in perago.yaml or by LAKEFS_ENDPOINT, LAKEFS_ACCESS_KEY_ID and LAKEFS_SECRET_ACCESS_KEY; "perago lakefs env" prints them for the embedded server.',
    })
  }
  const connectionsMax = options.connections ?? connections
  return createLakefsClient({ ...options, endpoint, ...credentials, connectionsMax })
}
