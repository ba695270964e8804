import { InvalidError } from '../../base/errors.ts'
import type { Logger } from '../../base/logger.ts'
import {
  openConductorClient,
  type ConductorClient,
  type ConductorClientOptions,
} from '../../conductor/client.ts'
import type { PeragoConfiguration } from '../configuration/configuration.ts'

/** What it takes to connect, as plain data: it may cross to another thread. */
export type ConductorSettings = Pick<ConductorClientOptions, 'endpoint' | 'key'>

/** Where the configured Conductor is, and with which key; throws when it is not configured. */
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

/** A client for the configured Conductor. To be closed by whoever opens it; nothing is sent yet. */
export function openConductor(
  configuration: Pick<PeragoConfiguration, 'conductor'>,
  options: Pick<ConductorClientOptions, 'retry' | 'onExchange'> & { readonly logger: Logger },
): ConductorClient {
  return openConductorClient({ ...conductorSettings(configuration), ...options })
}
