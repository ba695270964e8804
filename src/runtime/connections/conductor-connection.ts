import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import {
  openConductorClient,
  type ConductorClient,
  type ConductorClientOptions,
} from '../../conductor/client.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'

/** The connection settings as plain data, which can be sent to another thread. */
export type ConductorSettings = Pick<ConductorClientOptions, 'endpoint' | 'key'>

/** The address and key of the configured Conductor; throws if it is not configured. */
export function conductorSettings({ conductor }: Pick<PeragoConfiguration, 'conductor'>): ConductorSettings {
  const { serverUrl, auth } = conductor
  if (serverUrl === undefined) {
    throw new InvalidError('runtime/no-conductor', 'connect to Conductor: conductor.serverUrl is not set', {
      next: 'Set it in perago.yaml or by CONDUCTOR_SERVER_URL, such as http://localhost:8080/api.',
    })
  }
  const key = auth === undefined ? {} : { key: { keyId: auth.key, keySecret: auth.secret } }
  return { endpoint: serverUrl, ...key }
}

type ConnectionOptions = Pick<ConductorClientOptions, 'retry' | 'onExchange'> & { readonly logger: Logger }

/** A client for the configured Conductor. Sends nothing yet; the caller closes it. */
export function openConductor(
  configuration: Pick<PeragoConfiguration, 'conductor'>,
  options: ConnectionOptions,
): ConductorClient {
  return openConductorClient({ ...conductorSettings(configuration), ...options })
}

/** Opens such a client, and closes it after the work. */
export async function withConductor<T>(
  configuration: Pick<PeragoConfiguration, 'conductor'>,
  options: ConnectionOptions,
  work: (client: ConductorClient) => Promise<T>,
): Promise<T> {
  const client = openConductor(configuration, options)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}
