/**
 * Where a webhook may lead: to the outside. An address inside would let whoever makes webhooks ask what only this machine
 * or its network may ask.
 */

import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { InvalidError } from '../base/errors.ts'

const INSIDE_V4: readonly (readonly [string, number])[] = [
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
/** Those that stand for IPv4 addresses among them: 6to4, NAT64 and Teredo would lead back inside. */
const INSIDE_V6: readonly (readonly [string, number])[] = [
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

const inside = new BlockList()
for (const [net, bits] of INSIDE_V4) inside.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of INSIDE_V6) inside.addSubnet(net, bits, 'ipv6')

export interface FoundAddress {
  readonly address: string
  readonly family: number
}

export type Resolve = (host: string) => Promise<readonly FoundAddress[]>

export function isInside(address: string): boolean {
  // An IPv4 address in IPv6 clothes is judged as what it is; the list does that by itself.
  const family = isIP(address)
  return family === 0 || inside.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Throws `server/private-address` for an address that is inside by its looks; a name is looked up with each delivery. */
export function refuseInside(url: URL): void {
  const host = hostOf(url)
  const isNamedInside = /(?:^|\.)localhost\.?$/i.test(host)
  if (isNamedInside || (isIP(host) !== 0 && isInside(host))) throw privateAddress(host)
}

/**
 * The address to connect to, looked up once: a name that answers differently a moment later leads nowhere else. Throws
 * `server/private-address` when any of its addresses is inside.
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
  if (!options.allowPrivate && found.some(({ address }) => isInside(address))) throw privateAddress(host)
  return first
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function privateAddress(host: string): InvalidError {
  return new InvalidError(
    'server/private-address',
    `call a webhook at ${host}: its address is a private one`,
    { next: 'Name a receiver outside, or let the server call private addresses.' },
  )
}
