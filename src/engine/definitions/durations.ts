/** Durations and sizes of a document, whose form was checked. */

import { parseDuration, parseSize } from '../../base/quantities.ts'

export function seconds(text: string): number {
  return milliseconds(text) / 1000
}

export function milliseconds(text: string): number {
  return known(parseDuration(text), text)
}

export function bytes(text: string): number {
  return known(parseSize(text), text)
}

function known(quantity: number | undefined, text: string): number {
  if (quantity === undefined) throw new Error(`"${text}" passed the check of its form and cannot be read`)
  return quantity
}
