import { afterEach, expect, test } from 'vitest'

import { compileLua } from './lua-module.ts'
import { LuaPool } from './lua-pool.ts'

const pools: LuaPool[] = []

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

function openPool(limits: { timeMs?: number; memoryBytes?: number } = {}): LuaPool {
  const pool = new LuaPool({ timeMs: limits.timeMs ?? 20_000, memoryBytes: limits.memoryBytes ?? 32_000_000 })
  pools.push(pool)
  return pool
}

test('ES-60 a script sees its globals, whatever bytes they hold', async () => {
  const script = `
    assert(action.commit.parents[1] == "first")
    assert(#action.commit.metadata["nul"] == 3)
    assert(action.commit.metadata["__proto__"] == "own")
    print(action.commit.metadata['quote"]='], args.n + 1, args.yes)
  `
  const metadata = JSON.parse('{"nul":"a\\u0000b","quote\\"]=":"ü\\n","__proto__":"own"}') as Record<
    string,
    string
  >
  const result = await openPool().run({
    script,
    globals: { action: { commit: { parents: ['first', 'second'], metadata } }, args: { n: 1.5, yes: true } },
  })
  expect(result).toEqual({ output: 'ü\n\t2.5\ttrue\n', error: undefined })
})

test('ES-61 an error names the line of the script', async () => {
  const { error } = await openPool().run({ script: 'local x = 1\nerror("stop " .. x)', globals: {} })
  expect(error).toMatch(/^runtime error: \[string "lua"\]:2: stop 1\nstack traceback:/)
})

test('ES-61 a script that is no Lua is told so', async () => {
  const { error } = await openPool().run({ script: 'this is not lua', globals: {} })
  expect(error).toMatch(/^syntax error: \[string "lua"\]:1: /)
})

test('ES-62 an endless loop is ended at its deadline, and the next script runs', async () => {
  const pool = openPool({ timeMs: 2_000 })
  const endless = pool.run({ script: 'while true do end', globals: {} })
  expect((await endless).error).toBe('it ran longer than 2000 ms and was ended')
  expect((await pool.run({ script: 'print("next")', globals: {} })).output).toBe('next\n')
})

test('ES-62 an endless loop inside a protected call is ended too', async () => {
  const pool = openPool({ timeMs: 300 })
  const script = 'while true do pcall(function() while true do end end) end'
  expect((await pool.run({ script, globals: {} })).error).toContain('ran longer than 300 ms')
})

test('ES-63 a script that takes too much memory is refused it', async () => {
  const pool = openPool({ memoryBytes: 4_000_000 })
  expect((await pool.run({ script: 'local x = string.rep("x", 1e8)', globals: {} })).error).toContain(
    'not enough memory',
  )
  const hoard = 'local t = {} while true do t[#t + 1] = string.rep("x", 1000) .. #t end'
  expect((await pool.run({ script: hoard, globals: {} })).error).toContain('not enough memory')
  expect((await pool.run({ script: 'print("next")', globals: {} })).output).toBe('next\n')
})

const FINALIZERS = {
  'when memory is collected': `
    for i = 1, 100 do
      setmetatable({}, { __gc = function() hoard = string.rep("x", 1000000) .. i end })
      local garbage = string.rep("y", 100000) .. i
    end`,
  'at the end': `
    for i = 1, 200 do
      setmetatable({}, { __gc = function() kept = kept or {} kept[#kept + 1] = string.rep("x", 1000000) .. #kept end })
    end`,
}

test.each(Object.entries(FINALIZERS))(
  'ES-136 a finalizer that runs %s gets no more memory than the script',
  async (_, script) => {
    const pool = openPool({ memoryBytes: 4_000_000 })
    const before = process.memoryUsage().rss
    let peak = 0
    const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 2)
    await pool.run({ script, globals: {} })
    clearInterval(timer)
    expect(peak - before).toBeLessThan(120_000_000)
    expect((await pool.run({ script: 'print("next")', globals: {} })).output).toBe('next\n')
  },
)

test('ES-136 a finalizer without end is ended at the deadline of its script', async () => {
  const pool = openPool({ timeMs: 1_500 })
  const script = 'setmetatable({}, { __gc = function() while true do end end })'
  expect((await pool.run({ script, globals: {} })).error).toBe('it ran longer than 1500 ms and was ended')
})

test('ES-137 the module of Lua cannot grow beyond its maximum, whoever asks', async () => {
  const module = await compileLua(1_000_000)
  const { WebAssembly } = globalThis as unknown as {
    readonly WebAssembly: {
      readonly Module: { imports(module: object): readonly { module: string; name: string }[] }
      instantiate(module: object, imports: object): Promise<{ exports: { memory: Memory } }>
    }
  }
  interface Memory {
    readonly buffer: ArrayBuffer
    grow(pages: number): number
  }
  const imports: Record<string, Record<string, () => number>> = {}
  for (const wanted of WebAssembly.Module.imports(module))
    (imports[wanted.module] ??= {})[wanted.name] = () => 0
  const { memory } = (await WebAssembly.instantiate(module, imports)).exports
  expect(memory.buffer.byteLength).toBe(16_777_216)
  memory.grow(23)
  expect(() => memory.grow(1)).toThrow(RangeError)
})

test.each([
  ['letters', 'error(string.rep("x", 20000000))'],
  ['characters of several bytes', 'error(string.rep("\u{4e2d}", 7000000))'],
  ['a number of lines', 'error(string.rep("line\\n", 1000000))'],
  [
    'a table that says much',
    'error(setmetatable({}, { __tostring = function() return string.rep("x", 20000000) end }))',
  ],
  ['a syntax error', `x = "${'y'.repeat(60_000)}" oh`],
])('ES-138 the text of an error is cut: %s', async (_, script) => {
  const { error = '' } = await openPool({ memoryBytes: 67_108_864 }).run({ script, globals: {} })
  expect(error).not.toContain('not enough memory')
  expect(Buffer.byteLength(error)).toBeLessThan(5_000)
  expect(error.length).toBeGreaterThan(20)
})

test('ES-138 what a script gives back is not copied', async () => {
  const script = 'local t = {} for i = 1, 500000 do t[i] = i end return t'
  expect(await openPool({ memoryBytes: 64_000_000 }).run({ script, globals: {} })).toEqual({
    output: '',
    error: undefined,
  })
  const yielding = 'local t = {} for i = 1, 500000 do t[i] = i end coroutine.yield(t) print("on")'
  expect((await openPool({ memoryBytes: 64_000_000 }).run({ script: yielding, globals: {} })).output).toBe(
    'on\n',
  )
})

test('ES-135 texts in YAML are read in the thread, under its deadline', async () => {
  const pool = openPool({ timeMs: 2_000 })
  expect(await pool.parse(['a: [1, x]', ''])).toEqual({
    documents: ['{"a":[1,"x"]}', 'null'],
    error: undefined,
  })
  expect(await pool.parse(['a: 1', 'a: [b', 'c: 1'])).toEqual({
    documents: ['{"a":1}'],
    error: expect.stringContaining('Flow sequence') as string,
  })
  expect((await pool.parse(['a: &a [*a]'])).error).toMatch(/circular/i)
  // Over its time long before its memory is used up.
  const long = Array.from({ length: 60_000 }, (_, index) => `k${index}: [a]`).join('\n')
  expect(await openPool({ timeMs: 200 }).parse([long])).toEqual({
    documents: [],
    error: 'it ran longer than 200 ms and was ended',
  })
  expect((await pool.parse([`a: &a "${'x'.repeat(60_000)}"\nb: [${'*a,'.repeat(50)}]`])).error).toMatch(
    /say more than 1048576 characters/,
  )
  expect((await pool.parse(['a: 1'])).documents).toEqual(['{"a":1}'])
})

test('ES-64 a script reaches no file, no network, no process and no bytecode', async () => {
  const script = `
    for _, name in ipairs({ "io", "require", "package", "dofile", "loadfile", "debug" }) do
      assert(_G[name] == nil, name)
    end
    for _, name in ipairs({ "execute", "remove", "rename", "getenv", "exit", "tmpname" }) do
      assert(os[name] == nil, name)
    end
    assert(load(string.dump(function() end)) == nil)
    assert(load("return 7")() == 7)
    print("closed")
  `
  expect(await openPool().run({ script, globals: {} })).toEqual({ output: 'closed\n', error: undefined })
  const bytecode = await openPool().run({ script: '\u001bLua', globals: {} })
  expect(bytecode.error).toBe('the script is not plain text')
})

test('ES-65 every run has a fresh state', async () => {
  const pool = openPool()
  await pool.run({ script: 'left = 1 string.rep = nil', globals: {} })
  const result = await pool.run({ script: 'print(left, string.rep("x", 2))', globals: {} })
  expect(result.output).toBe('nil\txx\n')
})

test('ES-66 what a script prints is kept up to a limit', async () => {
  const result = await openPool().run({ script: 'for i = 1, 100000 do print("0123456789") end', globals: {} })
  expect(result.error).toBeUndefined()
  expect(result.output).toHaveLength(65_536)
})

test('ES-67 more scripts than threads wait for their turn', async () => {
  const pool = openPool()
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, index) => pool.run({ script: `print(${String(index)})`, globals: {} })),
  )
  expect(results.map((result) => result.output)).toEqual(
    Array.from({ length: 12 }, (_, index) => `${String(index)}\n`),
  )
})
