/**
 * Where a request comes from. Behind a proxy the connection shows the proxy's address; the client's is in `X-Forwarded-For`, to
 * which each proxy appends the address that it saw. Only what a trusted proxy has appended is believed.
 */

import { BlockList, isIP } from 'node:net'
import { InvalidError } from '../../base/errors.ts'

export interface Proxies {
  /** Whether it is the address of a trusted proxy. */
  has(address: string | undefined): boolean
  /** The client's address, of a connection from `peer` with this `X-Forwarded-For`. */
  clientOf(peer: string | undefined, forwarded: string | null | undefined): string | undefined
}

/** Takes addresses and ranges such as `10.0.0.0/8`. Throws `server/bad-proxy`. */
export function openProxies(trusted: readonly string[] = []): Proxies {
  const list = new BlockList()
  for (const given of trusted) add(list, given)
  const has = (address: string | undefined): boolean => {
    const plain = plainAddress(address ?? '')
    const version = isIP(plain)
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }
  return {
    has,
    clientOf(peer, forwarded) {
      let client = peer
      // From the right: what stands left of an address that is not trusted may have been sent by anybody.
      for (const named of (forwarded ?? '').split(',').reverse()) {
        if (!has(client)) return client
        const address = plainAddress(named.trim())
        if (isIP(address) === 0) return client
        client = address
      }
      return client
    },
  }
}

function add(list: BlockList, given: string): void {
  const [address = '', prefix, ...more] = given.trim().split('/')
  const version = isIP(address)
  const bits = prefix === undefined ? undefined : /^\d{1,3}$/.test(prefix) ? Number(prefix) : NaN
  const isRange = bits === undefined || bits <= (version === 4 ? 32 : 128)
  if (version === 0 || more.length > 0 || !isRange) {
    throw new InvalidError('server/bad-proxy', `trust the proxy ${JSON.stringify(given)}: it is no address`, {
      next: 'Give IP addresses or ranges, such as 10.0.0.1 or 10.0.0.0/8.',
    })
  }
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (bits === undefined) list.addAddress(address, family)
  else list.addSubnet(address, bits, family)
}

/** Without a port, brackets, or the prefix that IPv4 has on a socket for both. */
function plainAddress(text: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d+)?$/.exec(text) ?? []
  const [, withPort] = /^([\d.]+):\d+$/.exec(text) ?? []
  return (bracketed ?? withPort ?? text).replace(/^::ffff:(?=\d+\.)/i, '')
}
