// Goal: the variables of an execution are listed by page, and whoever follows the pages to their end gets each once.
import { describe, expect, test } from 'vitest'
import { openWorld, start } from '../../../test/support/core-world.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import type { Execution } from '../life-cycle/execution.ts'
import { VARIABLE_MAX_BYTES, VARIABLE_PAGE_MAX_BYTES } from '../limits.ts'
import type { VariableFilter, VariablePage } from './list-variables.ts'

async function readAll(execution: Execution, filter: VariableFilter = {}): Promise<readonly VariablePage[]> {
  const pages: VariablePage[] = []
  for (let { after } = filter; ;) {
    const page = await execution.variables.listPage({ ...filter, ...(after === undefined ? {} : { after }) })
    pages.push(page)
    if (page.next === undefined) return pages
    after = page.next
  }
}

const namesOf = (pages: readonly VariablePage[]): readonly string[] =>
  pages.flatMap(({ variables }) => variables.map(({ name }) => name))

describe.each(STORE_KINDS)('pages of variables on $kind', ({ open }) => {
  test('E-119 variables are listed by page in the order of their names, whole or below a prefix', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    await Promise.all(
      Array.from({ length: 250 }, (_, n) => execution.variables.set(`shared.n${String(n)}`, { n })),
    )
    const all = await execution.variables.list()
    const pages = await readAll(execution)
    expect(pages.map(({ variables }) => variables.length)).toEqual([100, 100, 52])
    expect(pages.flatMap(({ variables }) => variables.map(({ name, value }) => [name, value]))).toEqual(
      Object.entries(all),
    )
    expect(await readAll(execution, { limit: 252 })).toHaveLength(1)
    const below = await readAll(execution, { prefix: 'shared.n1', limit: 7 })
    expect(namesOf(below)).toEqual(Object.keys(all).filter((name) => name.startsWith('shared.n1')))
    expect(below.every(({ variables }) => variables.length <= 7)).toBe(true)
    expect(namesOf(await readAll(execution, { prefix: 'system.', after: 'shared.n1' }))).toHaveLength(2)
    expect(await readAll(execution, { prefix: 'shared.', after: 'system.started_at' })).toEqual([
      { variables: [], next: undefined },
    ])
    expect(await readAll(execution, { prefix: 'none.' })).toEqual([{ variables: [], next: undefined }])
  })

  test('E-119 a page of large values ends early, and what is removed meanwhile moves no other', async (context) => {
    const { core } = await openWorld({ open }, context)
    const execution = await start(core)
    const text = 'x'.repeat(VARIABLE_MAX_BYTES - 2)
    const count = VARIABLE_PAGE_MAX_BYTES / VARIABLE_MAX_BYTES + 2
    const names = Array.from({ length: count }, (_, n) => `shared.n${String(n).padStart(2, '0')}`)
    for (const name of names) await execution.variables.set(name, text)
    const first = await execution.variables.listPage({ prefix: 'shared.', limit: 1000 })
    expect(first.next).toBe(names[count - 3])
    await execution.variables.remove(first.next!)
    await execution.variables.remove(names[0]!)
    const rest = await readAll(execution, { prefix: 'shared.', after: first.next! })
    expect(namesOf(rest)).toEqual(names.slice(-2))
  })

  test.for<[string, VariableFilter, string]>([
    ['prefix', { prefix: 'a b' }, 'core/bad-filter'],
    ['prefix', { prefix: 'a:' }, 'core/bad-filter'],
    ['prefix', { prefix: 'a'.repeat(261) }, 'core/bad-filter'],
    ['limit', { limit: 0 }, 'core/bad-filter'],
    ['limit', { limit: 1001 }, 'core/bad-filter'],
    ['after', { after: 'nothing' }, 'core/bad-variable-name'],
  ])('E-119 a wrong %s of a page is refused: %j', async ([, filter, code], context) => {
    const { core } = await openWorld({ open }, context)
    const { variables } = await start(core)
    await expect(variables.listPage(filter)).rejects.toMatchObject({ code, kind: 'invalid' })
  })
})
