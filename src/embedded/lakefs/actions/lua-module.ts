/**
 * Lua's WebAssembly module, compiled with a maximum of memory of its own: the engine of JavaScript refuses to let it grow further,
 * whatever runs in it and whoever forgot to count. As published it may take 2 GiB.
 */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'

import { invariant } from '../../../base/errors.ts'

/** Opaque here; a thread makes an instance of it. */
export type LuaModule = object

interface Compiler {
  compile(bytes: Uint8Array): Promise<LuaModule>
}

const PAGE_BYTES = 65_536
const MEMORY_SECTION = 5

/** `memoryBytes`: what a script may allocate. The module itself, and gaps between what it has freed, come on top. */
export async function compileLua(memoryBytes: number): Promise<LuaModule> {
  const file = createRequire(import.meta.url).resolve('wasmoon/dist/glue.wasm')
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Compiler }
  return WebAssembly.compile(withMemoryMax(await readFile(file), memoryBytes * 1.5))
}

function withMemoryMax(bytes: Buffer, extraBytes: number): Buffer {
  const at = findSection(bytes, MEMORY_SECTION)
  invariant(at !== undefined && bytes[at] === 1, 'the module of Lua has one memory')
  invariant(bytes[at + 1] === 1, 'the memory of Lua has a maximum')
  const least = readNumber(bytes, at + 2)
  const most = readNumber(bytes, least.end)
  const pages = Math.min(most.value, least.value + Math.ceil(extraBytes / PAGE_BYTES))
  const limited = Buffer.from(bytes)
  writeNumber(limited, most, pages)
  return limited
}

/** Where the content of a section begins. */
function findSection(bytes: Buffer, wanted: number): number | undefined {
  // Behind the magic number and the version.
  let at = 8
  while (at < bytes.length) {
    const { value: length, end } = readNumber(bytes, at + 1)
    if (bytes[at] === wanted) return end
    at = end + length
  }
  return undefined
}

interface Encoded {
  readonly at: number
  readonly end: number
  readonly value: number
}

/** Seven bits in each byte, the lowest first; the highest bit says that more follow. */
function readNumber(bytes: Buffer, at: number): Encoded {
  let value = 0
  let end = at
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[end] ?? 0
    end += 1
    value += (byte & 127) * factor
    if (byte < 128) return { at, end, value }
  }
}

/** In as many bytes as were there. */
function writeNumber(bytes: Buffer, { at, end }: Encoded, value: number): void {
  let rest = value
  for (let index = at; index < end; index += 1) {
    bytes[index] = (rest % 128) | (index === end - 1 ? 0 : 128)
    rest = Math.floor(rest / 128)
  }
  invariant(rest === 0, 'a smaller number fits where the larger one was')
}
