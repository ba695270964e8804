/**
 * Whether a request comes from a program of this machine itself. A proxy or a browser of this machine could pass on requests of
 * anybody; it is known by what it adds. A proxy that speaks HTTP/1.1 and adds nothing cannot be told apart.
 */

import { isLoopbackAddress } from '../../base/listen.ts'

export interface LoopbackRequest {
  readonly headers: Headers
  /** The remote address of the connection. */
  readonly address: string | undefined
  /** Whether the connection already shows a proxy. */
  readonly isProxied?: boolean | undefined
}

export function isPlainLoopback({ headers, address, isProxied = false }: LoopbackRequest): boolean {
  if (address === undefined || !isLoopbackAddress(address)) return false
  if (isProxied || isForwarded(headers)) return false
  // A foreign name that resolves to 127.0.0.1 shows in this header.
  return LOOPBACK_HOST.test(headers.get('host') ?? '')
}

/** Headers that a proxy or a browser adds. */
export function isForwarded(headers: Headers): boolean {
  return [...headers.keys()].some((name) => FOREIGN_HEADER.test(name))
}

const FOREIGN_HEADER =
  /^(?:forwarded|via|origin|sec-fetch-site|x-forwarded(?:-.*)?|x-real-ip|x-original-.*|(?:x-|true-|x-cluster-)?client-ip|(?:cf|cdn|fastly|fly|x-envoy|x-azure|x-amz-cf|x-vercel)-.*)$/
const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i
