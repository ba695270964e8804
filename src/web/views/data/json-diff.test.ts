import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffJson, NODES_MAX, parseJson, type JsonNode } from './json-diff.ts'

const json = fc.jsonValue({ maxDepth: 3 })

describe('differences of JSON', () => {
  test('WB-24 each place that differs is marked, and nothing else', () => {
    const before = { a: 1, b: [1, 2], c: { d: true }, e: 'x' }
    const after = { a: 2, b: [1, 2, 3], c: { d: true }, f: null }
    expect(marksOf(diffJson(before, after))).toEqual(['a changed', 'b.2 added', 'f added', 'e removed'])
  })

  test('WB-24 a document has no changes against itself, and the same text in another spacing has none', () => {
    fc.assert(
      fc.property(json, (value) => {
        const again = parseJson(JSON.stringify(value, null, 2))?.value
        expect(diffJson(JSON.parse(JSON.stringify(value)), again)?.changes).toBe(0)
      }),
    )
  })

  test('WB-24 documents that differ have at least one marked place', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const [one, other] = [before, after].map((value) => JSON.parse(JSON.stringify(value)) as unknown)
        fc.pre(!sameJson(one, other))
        expect(marksOf(diffJson(one, other)).length).toBeGreaterThan(0)
      }),
    )
  })

  test('WB-24 a document of too many places, or too deep, is drawn as no tree', () => {
    expect(diffJson([], Array(NODES_MAX + 1).fill(0))).toBeUndefined()
    expect(diffJson(JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)), [])).toBeUndefined()
  })

  test('WB-24 what is no JSON is told apart from `null`', () => {
    expect([parseJson('null'), parseJson('{')]).toEqual([{ value: null }, undefined])
    expect(parseJson('\uFEFF{}')).toEqual({ value: {} })
  })
})

function marksOf(node: JsonNode | undefined, path = ''): string[] {
  if (node === undefined) return []
  const inner = node.children.flatMap((child) =>
    marksOf(child, path === '' ? child.key : `${path}.${child.key}`),
  )
  return node.kind === 'same' || inner.length > 0 ? inner : [`${path} ${node.kind}`]
}

function sameJson(one: unknown, other: unknown): boolean {
  const sorted = (value: unknown): string =>
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === 'object' && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    )
  return sorted(one) === sorted(other)
}
