/** A client of etcd that never repeats a request, and what its errors mean. */

import type { Etcd3, IOptions } from 'etcd3'
import { rootCertificates } from 'node:tls'
import { messageOf } from '../../base/errors.ts'
import { STORE_CONNECT_TIMEOUT_MS } from '../limits.ts'
import { loadDriver } from '../driver.ts'
import { answerLost, notDone, refusedByServer, type Work } from '../failures.ts'

export interface EtcdAddress {
  /** `http://host:2379` or `https://host:2379`, one for each member. */
  readonly endpoints: readonly string[]
  /** User for the authentication of etcd; none is used unless given. */
  readonly username?: string
  /** The password of `username`; empty unless given. */
  readonly password?: string
  /** Certificates in PEM, for `https`. */
  readonly tls?: { readonly ca?: Buffer; readonly key?: Buffer; readonly certificate?: Buffer }
}

type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>

/** The client's own policies would repeat a batch after a lost response. */
const ONCE = {
  execute: async (run: (context: { signal: AbortSignal }) => unknown) =>
    await run({ signal: new AbortController().signal }),
} as unknown as Policy

export async function connect({ endpoints, username, password, tls }: EtcdAddress): Promise<Etcd3> {
  const { Etcd3 } = await loadDriver('etcd3@1', () => import('etcd3'))
  return new Etcd3({
    hosts: [...endpoints],
    dialTimeout: STORE_CONNECT_TIMEOUT_MS,
    grpcOptions: {
      // Our pages are bounded; the default limit would refuse pages of large values.
      'grpc.max_receive_message_length': -1,
      'grpc.keepalive_time_ms': 10_000,
      'grpc.keepalive_timeout_ms': 5_000,
      // How soon a server that is back is noticed.
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 1_000,
      'grpc.enable_retries': 0,
    },
    faultHandling: { global: ONCE, host: () => ONCE },
    ...(username === undefined ? {} : { auth: { username, password: password ?? '' } }),
    ...(tls === undefined ? {} : { credentials: credentialsOf(tls) }),
  })
}

function credentialsOf(tls: NonNullable<EtcdAddress['tls']>): NonNullable<IOptions['credentials']> {
  return {
    // The driver requires one with any certificate. Default: Node's default certificate authorities.
    rootCertificate: tls.ca ?? Buffer.from(rootCertificates.join('\n')),
    ...(tls.key === undefined ? {} : { privateKey: tls.key }),
    ...(tls.certificate === undefined ? {} : { certChain: tls.certificate }),
  }
}

export function failureOf(work: Work, error: unknown): Error {
  const message = messageOf(error)
  // There was no connection, so nothing was sent.
  if (/No connection established|ECONNREFUSED|Failed to connect|Name resolution failed/i.test(message)) {
    return notDone(work, error)
  }
  if (/no space|too many requests|auth token is not provided/i.test(message)) return notDone(work, error)
  if (
    /permission denied|authentication failed|invalid auth|request is too large|too many operations/i.test(
      message,
    )
  ) {
    const next = 'Check user and permissions, and that the server’s limits are not below etcd’s defaults.'
    return refusedByServer(work, `: ${message}`, { next, cause: error })
  }
  return answerLost(work, error)
}
