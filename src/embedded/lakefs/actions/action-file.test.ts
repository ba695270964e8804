import { afterAll, expect, test } from 'vitest'

import { appliesTo, checkActionNames, readAction, unenforcedEvents, type Action } from './action-file.ts'
import { LuaPool } from './lua-pool.ts'

const pool = new LuaPool({ timeMs: 20_000, memoryBytes: 1_000_000 })

afterAll(() => pool.close())

async function parseActionFile(content: string): Promise<Action> {
  const { documents, error } = await pool.parse([content])
  if (error !== undefined) throw new Error(error)
  return readAction(JSON.parse(documents[0] ?? ''))
}

const FILE = `
name: fence
description: refuses
on:
  pre-merge:
    branches: [main, "release-*"]
  post-commit:
hooks:
  - id: one_hook
    type: lua
    properties:
      script: print("x")
`

test('ES-69 an action file names events, branches and hooks', async () => {
  const action = await parseActionFile(FILE)
  expect(action.name).toBe('fence')
  expect(action.hooks).toEqual([
    { id: 'one_hook', type: 'lua', if: '', properties: { script: 'print("x")' } },
  ])
  expect(appliesTo(action, 'pre-merge', 'main')).toBe(true)
  expect(appliesTo(action, 'pre-merge', 'release-7')).toBe(true)
  expect(appliesTo(action, 'pre-merge', 'dev')).toBe(false)
  expect(appliesTo(action, 'post-commit', 'dev')).toBe(true)
  expect(appliesTo(action, 'pre-commit', 'main')).toBe(false)
  expect(unenforcedEvents(action)).toEqual([])
})

test('ES-69 events that stop something and are not run here are named', async () => {
  const action = await parseActionFile('name: some\non: { pre-create-tag: , post-create-tag: }\nhooks: []')
  expect(unenforcedEvents(action)).toEqual(['pre-create-tag'])
})

test.each([
  ['empty', ''],
  ['a list', '- a'],
  ['no YAML', 'a: [b'],
  ['no name', FILE.replace('name: fence', 'x: y')],
  ['a bad name', FILE.replace('name: fence', 'name: "-"')],
  ['no event', 'name: some\nhooks: []'],
  ['an unknown event', FILE.replace('post-commit', 'post-nothing')],
  ['a bad pattern', FILE.replace('"release-*"', '"["')],
  ['a bad hook id', FILE.replace('one_hook', '"1"')],
  ['an unknown type', FILE.replace('type: lua', 'type: shell')],
  ['a script without properties', FILE.replace(/properties:[^]*/, '')],
  ['hooks that are no list', FILE.replace(/hooks:[^]*/, 'hooks: x')],
  ['two hooks of one id', `${FILE}  - { id: one_hook, type: lua, properties: {} }\n`],
  ['an alias bomb', `a: &a [x,x,x,x,x,x,x,x,x]\n${aliasBomb()}name: some`],
])('ES-70 an action file with %s is refused', async (_, content) => {
  await expect(parseActionFile(content)).rejects.toThrow()
})

test('ES-70 two actions of one name are refused', async () => {
  const action = await parseActionFile(FILE)
  expect(() => {
    checkActionNames([action, action])
  }).toThrow("duplicate action name 'fence'")
})

function aliasBomb(): string {
  return Array.from({ length: 8 }, (_, index) => {
    const [from, to] = ['abcdefghi'[index] ?? '', 'bcdefghij'[index] ?? '']
    return `${to}: &${to} [${Array.from({ length: 9 }, () => `*${from}`).join(',')}]\n`
  }).join('')
}
