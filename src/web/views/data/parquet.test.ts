import { describe, expect, test } from 'vitest'
import { readParquet, type RangedFile } from './parquet.ts'

describe('Parquet', () => {
  test('WB-31 schema and rows are read, and numbers keep their last digits', async () => {
    const { file } = rangesOf(writeParquet([1n, 2n ** 62n + 1n]))
    expect(await readParquet(file)).toEqual({
      schema: { columns: ['column', 'type', 'may be absent'], rows: [['id', 'INT64', 'no']] },
      ...{ rowCount: 2, groups: 1, writer: undefined },
      head: { columns: ['id'], rows: [['1'], ['4611686018427387905']] },
    })
  })

  test('WB-31 a compression that is not read here is named, and the schema is shown all the same', async () => {
    const { file } = rangesOf(writeParquet([1n], 6))
    expect(await readParquet(file)).toMatchObject({
      schema: { rows: [['id', 'INT64', 'no']] },
      head: { why: expect.stringContaining('compressed with ZSTD') as string },
    })
  })

  test('WB-31 of a large file only the end and the rows are read, and of too large rows none', async () => {
    const large = rangesOf(writeParquet([7n], 0, 40 * 1_048_576))
    expect(await readParquet(large.file)).toMatchObject({ head: { rows: [['7']] } })
    expect(large.readBytes()).toBeLessThan(1_048_576)
    const wide = rangesOf(writeParquet([7n], 0, 0, 30 * 1_048_576))
    expect(await readParquet(wide.file)).toMatchObject({
      head: { why: expect.stringContaining('more bytes than are read') as string },
    })
    expect(wide.readBytes()).toBeLessThan(1_048_576)
  })

  test('WB-31 what is no Parquet is refused', async () => {
    await expect(readParquet(rangesOf(new Uint8Array(100)).file)).rejects.toThrow()
  })
})

function rangesOf(bytes: Uint8Array<ArrayBuffer>): { readonly file: RangedFile; readBytes: () => number } {
  let sum = 0
  const read = (start: number, length: number): Promise<ArrayBuffer> => {
    sum += length
    return Promise.resolve(bytes.slice(start, start + length).buffer)
  }
  return { file: { sizeBytes: bytes.length, read }, readBytes: () => sum }
}

/** One column of numbers, as plain as the format allows. `gap` is unused room before them, `padding` belongs to their chunk. */
function writeParquet(values: readonly bigint[], codec = 0, gap = 0, padding = 0): Uint8Array<ArrayBuffer> {
  const count = values.length
  const page = struct(
    [1, int(0)],
    [2, int(8 * count)],
    [3, int(8 * count)],
    [5, struct([1, int(count)], [2, int(0)], [3, int(3)], [4, int(3)])],
  )
  const offset = 4 + gap
  const chunk = page.bytes.length + 8 * count + padding
  const column = struct(
    ...([
      [1, int(2)],
      [2, list(5, [int(0)])],
      [3, list(8, [text('id')])],
      [4, int(codec)],
      [5, long(count)],
    ] as const),
    ...([
      [6, long(chunk)],
      [7, long(chunk)],
      [9, long(offset)],
    ] as const),
  )
  const group = struct(
    [1, list(12, [struct([2, long(offset)], [3, column])])],
    [2, long(chunk)],
    [3, long(count)],
  )
  const root = struct([4, text('schema')], [5, int(1)])
  const id = struct([1, int(2)], [3, int(0)], [4, text('id')])
  const footer = struct(
    [1, int(1)],
    [2, list(12, [root, id])],
    [3, long(count)],
    [4, list(12, [group])],
  ).bytes
  const bytes = new Uint8Array(offset + chunk + footer.length + 8)
  const view = new DataView(bytes.buffer)
  const magic = new TextEncoder().encode('PAR1')
  bytes.set(magic)
  bytes.set(page.bytes, offset)
  values.forEach((value, index) => view.setBigInt64(offset + page.bytes.length + 8 * index, value, true))
  bytes.set(footer, offset + chunk)
  view.setUint32(bytes.length - 8, footer.length, true)
  bytes.set(magic, bytes.length - 4)
  return bytes
}

/** A value of Thrift's compact protocol. */
interface Thrift {
  readonly type: number
  readonly bytes: readonly number[]
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))]
}

function int(value: number): Thrift {
  return { type: 5, bytes: varint(value * 2) }
}

function long(value: number): Thrift {
  return { type: 6, bytes: varint(value * 2) }
}

function text(value: string): Thrift {
  return { type: 8, bytes: [...varint(value.length), ...new TextEncoder().encode(value)] }
}

function list(type: number, items: readonly Thrift[]): Thrift {
  return { type: 9, bytes: [(items.length << 4) | type, ...items.flatMap(({ bytes }) => bytes)] }
}

function struct(...fields: readonly (readonly [number, Thrift])[]): Thrift {
  let last = 0
  const bytes = fields.flatMap(([id, value]) => {
    const head = ((id - last) << 4) | value.type
    last = id
    return [head, ...value.bytes]
  })
  return { type: 12, bytes: [...bytes, 0] }
}
