/** What this machine itself says about host names: its hosts file, and the domains in which it looks for short names. */

import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'

export interface FoundAddress {
  readonly address: string
  readonly family: number
}

export interface HostFiles {
  readonly hosts: string
  readonly resolver: string
}

export const HOST_FILES: HostFiles =
  process.platform === 'win32'
    ? {
        hosts: join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts'),
        resolver: '',
      }
    : { hosts: '/etc/hosts', resolver: '/etc/resolv.conf' }

const LOCALHOST: readonly FoundAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
]

export function isLocalhost(host: string): boolean {
  return /(?:^|\.)localhost\.?$/i.test(host)
}

/** Empty where only a name server can tell. */
export async function findLocally(host: string, { hosts }: HostFiles): Promise<readonly FoundAddress[]> {
  // Never asked of anybody (RFC 6761).
  if (isLocalhost(host)) return LOCALHOST
  const wanted = host.replace(/\.$/, '').toLowerCase()
  return lines(await readText(hosts)).flatMap(([address = '', ...names]) => {
    const family = isIP(address)
    const isNamed = names.some((name) => name.toLowerCase() === wanted)
    return family !== 0 && isNamed ? [{ address, family }] : []
  })
}

/** The names to ask for, in order: a short one in the domains of this machine first, a longer one as it is first. */
export async function listCandidates(host: string, { resolver }: HostFiles): Promise<readonly string[]> {
  if (host.endsWith('.')) return [host]
  let domains: readonly string[] = []
  let dotsMin = 1
  for (const [keyword, ...rest] of lines(await readText(resolver))) {
    if (keyword === 'search' || keyword === 'domain') domains = rest.slice(0, DOMAINS_MAX)
    const dots =
      keyword === 'options'
        ? /^ndots:(\d+)$/.exec(rest.find((option) => option.startsWith('ndots:')) ?? '')
        : null
    if (dots !== null) dotsMin = Number(dots[1])
  }
  const inDomains = domains
    .map((domain) => `${host}.${domain.replace(/^\.|\.$/g, '')}.`)
    .filter((name) => !name.endsWith('..'))
  const isShort = host.split('.').length - 1 < dotsMin
  return isShort ? [...inDomains, `${host}.`] : [`${host}.`, ...inDomains]
}

/** As the system's own resolver. */
const DOMAINS_MAX = 6

function lines(text: string): readonly (readonly string[])[] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  )
}

/** A machine without such a file has none of its own names. */
function readText(file: string): Promise<string> {
  return file === '' ? Promise.resolve('') : readFile(file, 'utf8').catch(() => '')
}
