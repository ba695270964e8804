import { afterEach, expect, test } from 'vitest'

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
