/**
 * Which addresses a webhook may call: public ones. Otherwise whoever adds webhooks could send requests to services that only
 * this machine or its network can reach.
 */

import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { InvalidError } from '../../base/errors.ts'
import { isLocalhost, type FoundAddress } from './host-names.ts'

/** Those that no public receiver has: of machines, private networks, groups, documentation, and reserved ones. */
const REFUSED_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
/** The only part of IPv6 from which public addresses are given out … */
const PUBLIC_V6 = ['2000::', 3] as const
/** … and what is not public of it: protocols with Teredo, documentation, 6to4. Those two embed an IPv4 address that a relay would call. */
const REFUSED_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]
/** The last 32 bits are an IPv4 address, which is what is called: IPv4-mapped, and NAT64. */
const EMBEDDING_V6: readonly (readonly [string, number])[] = [
  ['::ffff:0:0', 96],
  ['64:ff9b::', 96],
]

const refusedV4 = listNets(REFUSED_V4, 'ipv4')
const refusedV6 = listNets(REFUSED_V6, 'ipv6')
const publicV6 = listNets([PUBLIC_V6], 'ipv6')
const embeddingV6 = listNets(EMBEDDING_V6, 'ipv6')

export type Resolve = (host: string, signal: AbortSignal) => Promise<readonly FoundAddress[]>

function listNets(nets: readonly (readonly [string, number])[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const [net, bits] of nets) list.addSubnet(net, bits, family)
  return list
}

/** Also for what is no address, and for one of this machine, which may well be public. */
function isPrivate(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return refusedV4.check(address, 'ipv4') || isOwn(address)
  if (family === 0 || address.includes('%')) return true
  if (embeddingV6.check(address, 'ipv6')) return isPrivate(lastBitsOf(address))
  return !publicV6.check(address, 'ipv6') || refusedV6.check(address, 'ipv6') || isOwn(address)
}

/** Asked each time: addresses come and go while the server runs. */
function isOwn(address: string): boolean {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  const own = new BlockList()
  for (const given of Object.values(networkInterfaces()).flat())
    if (given !== undefined && given.family.toLowerCase() === family) own.addAddress(given.address, family)
  return own.check(address, family)
}

/** The last 32 bits of an IPv6 address, as an IPv4 one. */
function lastBitsOf(address: string): string {
  // Written in one way: in groups of four digits without an IPv4 address at its end.
  const { hostname } = new URL(`http://[${address}]/`)
  const [high = '', low = ''] = groupsOf(hostname.slice(1, -1)).slice(-2)
  const bits = (Number.parseInt(high, 16) << 16) | Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join('.')
}

/** All eight. */
function groupsOf(address: string): readonly string[] {
  const [head = '', tail = ''] = address.split('::')
  const [before, after] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill('0')
  return [...(before ?? []), ...zeros, ...(after ?? [])]
}

/** Throws `server/private-address` for a private IP address. A host name is looked up with each delivery. */
export function refusePrivate(url: URL): void {
  const host = hostOf(url)
  if (isLocalhost(host) || (isIP(host) !== 0 && isPrivate(host))) throw privateAddress(host)
}

/**
 * The addresses to connect to. They are looked up once, so that those that were checked are the only ones that are called.
 * Throws `server/private-address` when any address of the name is private.
 */
export async function findAddresses(
  url: URL,
  options: { readonly allowPrivate: boolean; readonly resolve: Resolve; readonly signal: AbortSignal },
): Promise<readonly FoundAddress[]> {
  const host = hostOf(url)
  const family = isIP(host)
  const found = family === 0 ? await options.resolve(host, options.signal) : [{ address: host, family }]
  if (found.length === 0) throw new Error(`${host} has no address`)
  if (!options.allowPrivate && found.some(({ address }) => isPrivate(address))) throw privateAddress(host)
  return found
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function privateAddress(host: string): InvalidError {
  return new InvalidError('server/private-address', `call a webhook at ${host}: its address is private`, {
    next: 'Use a public address, or allow private ones with --allow-private-webhooks.',
  })
}
