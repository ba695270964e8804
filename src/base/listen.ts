/** Opens the port of a server. */

import type { AddressInfo, Server } from 'node:net'

/**
 * Resolves with what stands in a URL after `http://`: the host and the port that was taken, which for port 0 is a free
 * one. Rejects with what `explain` makes of the failure. An error after that concerns one connection that could not be
 * accepted: the server goes on.
 */
export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
  explain: (cause: NodeJS.ErrnoException) => Error,
): Promise<string> {
  return new Promise((resolve, reject) => {
    server.on('error', (cause: NodeJS.ErrnoException) => reject(explain(cause)))
    server.listen(port, host, () => {
      const { port: taken } = server.address() as AddressInfo
      resolve(`${host.includes(':') ? `[${host}]` : host}:${taken}`)
    })
  })
}

/** What is wrong with the address itself: another try would fail as well. A port in use may become free. */
const WRONG_ADDRESS: ReadonlySet<string | undefined> = new Set([
  ...['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL', 'EACCES'],
])

export function isWrongAddress({ code }: NodeJS.ErrnoException): boolean {
  return WRONG_ADDRESS.has(code)
}

export function isLoopbackAddress(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '')
  return /^127(?:\.\d{1,3}){3}$/.test(plain) || plain === '::1' || plain === 'localhost'
}
