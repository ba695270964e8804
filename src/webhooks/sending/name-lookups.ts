/**
 * The addresses of receivers' names. Not by `dns.lookup`, which occupies one of the four threads of Node for as long as a name
 * server is silent, and cannot be cancelled: a tenant whose names are not answered would stop the deliveries of all.
 *
 * - NL-1 A lookup ends in a bounded time, and at once when nobody waits for it any more.
 * - NL-2 Of each name one lookup runs for each tenant, and each tenant has a limit of its own.
 */

import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { unlessAborted } from '../../base/abort-signals.ts'
import {
  WEBHOOK_ADDRESSES_MAX,
  WEBHOOK_LOOKUP_GRACE_MS,
  WEBHOOK_LOOKUP_TIMEOUT_MS,
  WEBHOOK_LOOKUP_TRIES,
  WEBHOOK_LOOKUPS_PER_TENANT,
} from '../limits.ts'
import { findLocally, HOST_FILES, listCandidates, type FoundAddress, type HostFiles } from './host-names.ts'

export interface NameLookupsOptions {
  /** Instead of those of this machine: addresses, with a port where it is not 53. */
  readonly nameServers?: readonly string[]
  readonly files?: HostFiles
  readonly timeoutMs?: number
}

export interface LookupRequest {
  /** `undefined`: the default one. */
  readonly tenant: string | undefined
  readonly signal: AbortSignal
}

interface Lookup {
  readonly found: Promise<readonly FoundAddress[]>
  /** Nobody joins it from now on. */
  readonly end: () => void
  waiting: number
}

export class NameLookups {
  readonly #options: NameLookupsOptions
  /** What runs, by tenant and name. */
  readonly #running = new Map<string | undefined, Map<string, Lookup>>()

  constructor(options: NameLookupsOptions = {}) {
    this.#options = options
  }

  /** Rejects where there is no address, in words for the owner of the webhook. */
  async find(host: string, { tenant, signal }: LookupRequest): Promise<readonly FoundAddress[]> {
    signal.throwIfAborted()
    const ofTenant = this.#running.get(tenant) ?? new Map<string, Lookup>()
    this.#running.set(tenant, ofTenant)
    const known = ofTenant.get(host)
    if (known === undefined && ofTenant.size >= WEBHOOK_LOOKUPS_PER_TENANT)
      throw new Error(
        `${host} was not looked up: as many as ${WEBHOOK_LOOKUPS_PER_TENANT} names are being looked up`,
      )
    const lookup = known ?? this.#begin(host, ofTenant, tenant)
    lookup.waiting += 1
    try {
      return await unlessAborted(lookup.found, signal)
    } finally {
      lookup.waiting -= 1
      if (lookup.waiting === 0) lookup.end()
    }
  }

  #begin(host: string, ofTenant: Map<string, Lookup>, tenant: string | undefined): Lookup {
    const { timeoutMs = WEBHOOK_LOOKUP_TIMEOUT_MS } = this.#options
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(tooSlow(host, timeoutMs)), timeoutMs)
    const end = (): void => {
      clearTimeout(timer)
      over.abort()
      if (ofTenant.get(host) !== lookup) return
      ofTenant.delete(host)
      if (ofTenant.size === 0) this.#running.delete(tenant)
    }
    const found = unlessAborted(this.#ask(host, timeoutMs, over.signal), over.signal).finally(end)
    // Those who wait for it may all have left.
    found.catch(() => undefined)
    const lookup: Lookup = { found, end, waiting: 0 }
    ofTenant.set(host, lookup)
    return lookup
  }

  async #ask(host: string, timeoutMs: number, signal: AbortSignal): Promise<readonly FoundAddress[]> {
    const { nameServers, files = HOST_FILES } = this.#options
    const own = await findLocally(host, files)
    if (own.length > 0) return own
    const candidates = await listCandidates(host, files)
    const resolver = new Resolver({
      timeout: Math.ceil(timeoutMs / WEBHOOK_LOOKUP_TRIES),
      tries: WEBHOOK_LOOKUP_TRIES,
    })
    if (nameServers !== undefined) resolver.setServers(nameServers)
    signal.addEventListener('abort', () => resolver.cancel(), { once: true })
    return askServers(resolver, { host, candidates, signal })
  }
}

interface Question {
  readonly host: string
  readonly candidates: readonly string[]
  readonly signal: AbortSignal
}

async function askServers(
  resolver: Resolver,
  { host, candidates, signal }: Question,
): Promise<readonly FoundAddress[]> {
  const problems = new Set<string>()
  for (const name of candidates) {
    signal.throwIfAborted()
    const found = await askBoth(resolver, name, { signal, onProblem: (code) => problems.add(code) })
    if (found.length > 0) return found.slice(0, WEBHOOK_ADDRESSES_MAX)
  }
  // That another name does not exist is no reason when a server did not answer for this one.
  const [problem = 'ENOTFOUND'] = [...problems].filter((code) => code !== 'ENOTFOUND' && code !== 'ENODATA')
  throw new Error(`${host} was not found by its name (${problem})`)
}

/** IPv4 addresses first. Of a server that answers for one family only, not much is waited for. */
async function askBoth(
  resolver: Resolver,
  name: string,
  { signal, onProblem }: { readonly signal: AbortSignal; readonly onProblem: (code: string) => void },
): Promise<readonly FoundAddress[]> {
  const found: FoundAddress[] = []
  const ask = (family: number, asking: Promise<readonly string[]>): Promise<void> =>
    asking.then(
      (addresses) => void found.push(...addresses.map((address) => ({ address, family }))),
      (error: unknown) => onProblem(codeOf(error)),
    )
  const both = [ask(4, resolver.resolve4(name)), ask(6, resolver.resolve6(name))]
  await Promise.race(both)
  const rest = found.length > 0 ? [sleep(WEBHOOK_LOOKUP_GRACE_MS, undefined, { signal })] : []
  await Promise.race([Promise.all(both), ...rest]).catch(() => undefined)
  return found.sort((left, right) => left.family - right.family)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN'
}

function tooSlow(host: string, timeoutMs: number): Error {
  return new Error(`${host} was not found by its name within ${timeoutMs} ms`)
}
