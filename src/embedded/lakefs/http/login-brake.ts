/**
 * Slows whoever tries credentials. Wrong tries are counted per address and access key, per address, and per access key; who has
 * used them up is refused unheard. An address that was accepted is never refused, nor is one that has not failed itself: others
 * cannot lock anybody out.
 */

import { createHash } from 'node:crypto'

import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Clock } from '../../../base/clock.ts'
import {
  EMBEDDED_LOGIN_ADDRESS_FAILURES_MAX,
  EMBEDDED_LOGIN_FAILURES_MAX,
  EMBEDDED_LOGIN_KEY_FAILURES_MAX,
  EMBEDDED_LOGIN_REMEMBERED_MAX,
  EMBEDDED_LOGIN_TRUST_MS,
} from '../../limits.ts'

/** Wrong tries that are left; they come back with time. */
interface Allowance {
  left: number
  atMs: number
}

interface Rate {
  readonly max: number
  readonly perSecond: number
}

const PAIR: Rate = { max: EMBEDDED_LOGIN_FAILURES_MAX, perSecond: 1 }
const ADDRESS: Rate = { max: EMBEDDED_LOGIN_ADDRESS_FAILURES_MAX, perSecond: 5 }
const KEY: Rate = { max: EMBEDDED_LOGIN_KEY_FAILURES_MAX, perSecond: 1 }

export class LoginBrake {
  readonly #clock: Clock
  readonly #pairs = newTable<Allowance>()
  readonly #addresses = newTable<Allowance>()
  readonly #keys = newTable<Allowance>()
  /** Address and key that were accepted, and when. */
  readonly #accepted = newTable<number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long to wait until these credentials are looked at; 0: now. */
  waitMs(address: string, accessKeyId: string): number {
    const place = networkOf(address)
    const pair = `${place} ${shortDigest(accessKeyId)}`
    const nowMs = this.#clock.monotonicMs()
    const acceptedAtMs = this.#accepted.get(pair)
    if (acceptedAtMs !== undefined && nowMs - acceptedAtMs < EMBEDDED_LOGIN_TRUST_MS) return 0
    return Math.max(
      untilOne(this.#pairs.get(pair), PAIR, nowMs),
      untilOne(this.#addresses.get(place), ADDRESS, nowMs),
    )
  }

  failed(address: string, accessKeyId: string): void {
    const place = networkOf(address)
    const key = shortDigest(accessKeyId)
    const nowMs = this.#clock.monotonicMs()
    const isTriedEverywhere = take(this.#keys, key, KEY, nowMs) < 0
    take(this.#addresses, place, ADDRESS, nowMs)
    take(this.#pairs, `${place} ${key}`, PAIR, nowMs, isTriedEverywhere ? PAIR.max : 1)
  }

  accepted(address: string, accessKeyId: string): void {
    const pair = `${networkOf(address)} ${shortDigest(accessKeyId)}`
    this.#accepted.set(pair, this.#clock.monotonicMs())
  }
}

function newTable<Value>(): BoundedMap<string, Value> {
  return new BoundedMap({ max: EMBEDDED_LOGIN_REMEMBERED_MAX, evict: 'least-recently-used' })
}

/** Takes some of an allowance, and returns what it would have been below zero too. */
function take(
  table: BoundedMap<string, Allowance>,
  name: string,
  rate: Rate,
  nowMs: number,
  amount = 1,
): number {
  const left = leftOf(table.get(name), rate, nowMs) - amount
  table.set(name, { left: Math.max(left, 0), atMs: nowMs })
  return left
}

function leftOf(allowance: Allowance | undefined, { max, perSecond }: Rate, nowMs: number): number {
  if (allowance === undefined) return max
  return Math.min(max, allowance.left + ((nowMs - allowance.atMs) / 1_000) * perSecond)
}

function untilOne(allowance: Allowance | undefined, rate: Rate, nowMs: number): number {
  const missing = 1 - leftOf(allowance, rate, nowMs)
  return missing <= 0 ? 0 : Math.ceil((missing / rate.perSecond) * 1_000)
}

/** Whoever has one address of IPv6 has its whole network. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = plain.split('::', 2)
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  return [...first, ...Array.from({ length: zeros }, () => '0'), ...last].slice(0, 4).join(':')
}

/** Of one length whatever is sent, so that the table is bounded in bytes too. */
function shortDigest(accessKeyId: string): string {
  return createHash('sha256').update(accessKeyId).digest('base64url').slice(0, 22)
}
