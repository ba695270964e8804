// What units share, over HTTP. Every answer is held to the contract by the world itself.
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'

let world: DoorWorld
let token: string
beforeEach(async () => {
  world = openDoorWorld()
  token = await world.tokenFor('operator')
})
afterEach(() => world.close())

const PIPELINE = {
  name: 'counted',
  units: {
    keep: { set: { rows: 7, day: '2026-01-15' } },
    large: { human: {}, onlyIf: 'shared.rows > 3', after: ['keep'] },
    late: { set: { total: '${workflow.variables.rows}' }, after: ['large'] },
  },
  output: { total: '${workflow.variables.total}' },
}

interface Page {
  readonly values: readonly { readonly name: string }[]
  readonly next_after?: string
}

async function startPipeline(definition: object): Promise<string> {
  const started = await world.ask('/executions', { method: 'POST', token, body: { definition } })
  return ((await started.json()) as { execution_id: string }).execution_id
}

async function read(id: string, query = ''): Promise<Page> {
  return (await (await world.ask(`/executions/${id}/shared${query}`, { token })).json()) as Page
}

test('DO-185 what units share is read with its last write, and the units that set and use it', async () => {
  const id = await startPipeline(PIPELINE)
  await expect.poll(async () => (await read(id)).values).toMatchObject([{}, { value: 7 }, {}])
  const written = {
    at: expect.any(String) as string,
    by: expect.objectContaining({ unit: 'keep' }) as object,
  }
  const inMiddle = { written, used_at_end: false }
  expect(await read(id)).toEqual({
    values: [
      { name: 'shared.day', value: '2026-01-15', set_by: ['keep'], used_by: [], ...inMiddle },
      { name: 'shared.rows', value: 7, set_by: ['keep'], used_by: ['large', 'late'], ...inMiddle },
      { name: 'shared.total', set_by: ['late'], used_by: [], used_at_end: true },
    ],
  })
})

test('DO-185 DO-186 pages of shared values are bounded, in order, and have each name once', async () => {
  const names = Array.from({ length: 25 }, (_, n) => `n${String(n).padStart(2, '0')}`)
  const use = names.map((name) => `\${workflow.variables.${name}}`).join(' ')
  const even = names.filter((_, n) => n % 2 === 0).map((name) => [name, 1] as const)
  const id = await startPipeline({
    name: 'many',
    units: { keep: { set: Object.fromEntries(even) }, hold: { human: {}, after: ['keep'] } },
    // One that no variable can be named.
    output: { use: `${use} \${workflow.variables.ä} \${workflow.variables.${'x'.repeat(999)}}` },
  })
  await expect.poll(async () => (await read(id)).values[0]).toMatchObject({ value: 1 })
  expect((await read(id)).values).toHaveLength(20)
  for (const limit of [1, 2, 3, 7, 50]) {
    const found: string[] = []
    for (let after = ''; ;) {
      const page = await read(id, `?limit=${String(limit)}${after}`)
      expect(page.values.length).toBeLessThanOrEqual(limit)
      found.push(...page.values.map(({ name }) => name))
      if (page.next_after === undefined) break
      after = `&after=${page.next_after}`
    }
    expect(found).toEqual(names.map((name) => `shared.${name}`))
  }
  const refused = await world.ask(`/executions/${id}/shared?limit=51`, { token })
  expect(refused.status).toBe(400)
})

test('DO-187 what a program shares in its own execution is read, by viewers of its tenant alone', async () => {
  const execution = await world.core.startExecution({ id: 'exec_1', name: 'plan' })
  await execution.variables.set('shared.sales', [3, 4])
  await execution.variables.set('report.rows', 1)
  const written = { at: expect.any(String) as string, by: {} }
  const sharers = { set_by: [], used_by: [], used_at_end: false }
  expect(await read('exec_1')).toEqual({
    values: [{ name: 'shared.sales', value: [3, 4], written, ...sharers }],
  })
  const other = await world.ask('/executions/exec_1/shared', { token: await world.tokenFor('viewer', 'zoo') })
  expect(other.status).toBe(404)
})

test('DO-188 an execution that another one runs as a unit names that one', async () => {
  const child = { name: 'child', units: { sign: { human: {} } } }
  await world.ask('/pipelines', { method: 'POST', token, body: child })
  const id = await startPipeline({ name: 'parent', units: { run: { pipeline: 'child' } } })
  const list = async () =>
    (await (await world.ask('/executions?name=child', { token })).json()) as {
      executions: { execution_id: string }[]
    }
  await expect.poll(async () => (await list()).executions.length).toBe(1)
  const [{ execution_id: childId } = { execution_id: '' }] = (await list()).executions
  const shown = async (one: string): Promise<unknown> =>
    (await world.ask(`/executions/${one}`, { token })).json()
  expect(await shown(childId)).toMatchObject({ name: 'child', parent_execution_id: id })
  expect(await shown(id)).toMatchObject({ plan_units: [{ id: 'run', child_execution_id: childId }] })
  expect(await shown(id)).not.toHaveProperty('parent_execution_id')
})
