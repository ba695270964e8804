/** One byte range of an object, as lakeFS reads the header: several ranges at once are refused, not answered whole. */

import { HttpProblem } from './answer.ts'

export interface ByteRange {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

type RangeAnswer =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly range: ByteRange }
  /** 416; with `Content-Range` only where the range is well-formed but outside the object. */
  | { readonly kind: 'unsatisfiable'; readonly tellSize: boolean }

export function readRange(header: string | undefined, sizeBytes: number): RangeAnswer {
  if (header === undefined) return { kind: 'whole' }
  if (!/^bytes=[\d-][\d\-, ]*$/.test(header)) {
    throw new HttpProblem(
      400,
      `parameter "Range" in header has an error: ${JSON.stringify(header.slice(0, 80))}`,
    )
  }
  const match = /^(\d*)-(\d*)$/.exec(header.slice('bytes='.length))
  const [first, last] = [match?.[1] ?? '', match?.[2] ?? '']
  if (first === '' && last === '') return { kind: 'unsatisfiable', tellSize: false }
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes)
    if (length === 0) return { kind: 'unsatisfiable', tellSize: true }
    return { kind: 'part', range: { start: sizeBytes - length, end: sizeBytes - 1 } }
  }
  const start = Number(first)
  if (last !== '' && Number(last) < start) return { kind: 'unsatisfiable', tellSize: false }
  if (start >= sizeBytes) return { kind: 'unsatisfiable', tellSize: true }
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  return { kind: 'part', range: { start, end } }
}
