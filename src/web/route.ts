/**
 * Addresses of views. They stand after `#`, so that no server sees what is looked at:
 *
 * ```
 * #/data/lake/branches/main?path=orders.csv
 * ```
 */

import { computed, signal } from '@preact/signals'

export interface Route {
  /** Decoded, without empty ones: `['data', 'lake', 'branches', 'main']`. */
  readonly parts: readonly string[]
  readonly query: Readonly<Record<string, string>>
}

export interface ViewProps {
  /** The part of the address after the view's name. */
  readonly parts: readonly string[]
  readonly query: Route['query']
}

function readRoute(hash: string): Route {
  const [path = '', query = ''] = splitAt(hash.replace(/^#/, ''), '?')
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decode)
  return { parts, query: Object.fromEntries(new URLSearchParams(query)) }
}

/** `undefined` in a query leaves the name out. */
export function addressOf(
  parts: readonly string[],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const search = new URLSearchParams(given).toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`
}

function splitAt(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const hash = signal('')
export const route = computed(() => readRoute(hash.value))

/** Follows the address bar. */
export function followAddress(): void {
  const read = (): void => {
    hash.value = location.hash
  }
  read()
  addEventListener('hashchange', read)
}

/** Replaces the address without a step in the history: for filters, and other things that are not another view. */
export function replaceQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { parts, query } = route.value
  history.replaceState(null, '', addressOf(parts, { ...query, ...changes }))
  hash.value = location.hash
}

export function goTo(address: string): void {
  location.hash = address.replace(/^#/, '')
}
