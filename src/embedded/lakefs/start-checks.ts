/** What is refused before the embedded server starts, and what its user is warned about. */

import type { AddressInfo } from 'node:net'

import { InvalidError, UnavailableError } from '../../base/errors.ts'
import { isLoopbackAddress } from '../../base/listen.ts'
import { EMBEDDED_SECRET_MIN_CHARS } from '../limits.ts'
import type { KeyPair } from './credentials.ts'

export function readKeyPair(options: {
  readonly accessKeyId?: string
  readonly secretAccessKey?: string
}): KeyPair | undefined {
  if (options.accessKeyId === undefined && options.secretAccessKey === undefined) return undefined
  const { accessKeyId = '', secretAccessKey = '' } = options
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new InvalidError(
      'embedded/half-credentials',
      'start the embedded lakeFS: the access key id or the secret is missing',
      { next: 'Give both, or neither to have a pair generated.' },
    )
  }
  if (accessKeyId.includes(':')) {
    throw new InvalidError(
      'embedded/bad-access-key',
      'start the embedded lakeFS: an access key id with a ":" cannot be sent in basic authentication',
      { next: 'Choose an access key id without a colon.' },
    )
  }
  return { accessKeyId, secretAccessKey }
}

export function explainListenError(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const where = `listen on ${host}:${String(port)}`
  if (error.code === 'EADDRINUSE') {
    return new UnavailableError('embedded/port-in-use', `${where}: another program listens there already`, {
      details: { host, port },
      next: 'Stop that program, or choose another port; 0 takes a free one.',
      cause: error,
    })
  }
  return new InvalidError('embedded/cannot-listen', `${where}: ${error.message}`, {
    details: { host, port, code: error.code },
    next: 'Choose an address of this machine and a port this user may listen on.',
    cause: error,
  })
}

export function isLongSecret(secret: string): boolean {
  return secret.length >= EMBEDDED_SECRET_MIN_CHARS
}

export function shortSecret(host: string): InvalidError {
  return new InvalidError(
    'embedded/short-secret',
    `listen on ${host}: the secret has fewer than ${EMBEDDED_SECRET_MIN_CHARS} characters, and ${host} is not loopback`,
    { next: 'Give a longer secret, or none to have one generated.' },
  )
}

export function warnAboutHost(host: string, { address }: AddressInfo): readonly string[] {
  if (isLoopbackAddress(address)) return []
  return [
    `listening on ${host}, which is not loopback: everybody who reaches this machine can try credentials, and nothing is encrypted`,
  ]
}
