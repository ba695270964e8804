/**
 * Which addresses a webhook may call: public ones. Otherwise whoever adds webhooks could send requests to services that only
 * this machine or its network can reach.
 */

import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { InvalidError } from '../../base/errors.ts'

const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
]
/** With 6to4, NAT64 and Teredo, which contain IPv4 addresses and could lead to private ones. */
const PRIVATE_V6: readonly (readonly [string, number])[] = [
  ['::', 127],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2001::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]

const privateNets = new BlockList()
for (const [net, bits] of PRIVATE_V4) privateNets.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of PRIVATE_V6) privateNets.addSubnet(net, bits, 'ipv6')

export interface FoundAddress {
  readonly address: string
  readonly family: number
}

export type Resolve = (host: string) => Promise<readonly FoundAddress[]>

function isPrivate(address: string): boolean {
  // The list also finds an IPv4 address that is written as an IPv6 one.
  const family = isIP(address)
  return family === 0 || privateNets.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Throws `server/private-address` for a private IP address. A host name is looked up with each delivery. */
export function refusePrivate(url: URL): void {
  const host = hostOf(url)
  const isLocalhost = /(?:^|\.)localhost\.?$/i.test(host)
  if (isLocalhost || (isIP(host) !== 0 && isPrivate(host))) throw privateAddress(host)
}

/**
 * The address to connect to. It is looked up once, so that the address that was checked is the one that is called. Throws
 * `server/private-address` when any address of the name is private.
 */
export async function findAddress(
  url: URL,
  options: { readonly allowPrivate: boolean; readonly resolve?: Resolve },
): Promise<FoundAddress> {
  const host = hostOf(url)
  const family = isIP(host)
  const { resolve = (name) => lookup(name, { all: true }) } = options
  const found = family === 0 ? await resolve(host) : [{ address: host, family }]
  const [first] = found
  if (first === undefined) throw new Error(`${host} has no address`)
  if (!options.allowPrivate && found.some(({ address }) => isPrivate(address))) throw privateAddress(host)
  return first
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function privateAddress(host: string): InvalidError {
  return new InvalidError('server/private-address', `call a webhook at ${host}: its address is private`, {
    next: 'Use a public address, or allow private ones with --allow-private-webhooks.',
  })
}
