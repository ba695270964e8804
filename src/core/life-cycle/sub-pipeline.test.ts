// Goal: parent and child share nothing; what is declared crosses between them as a copy.
import { describe, expect, test, type TestContext } from 'vitest'
import { collect, openWorld, start } from '../../../test/support/core-world.ts'
import { STORE_KINDS } from '../../../test/support/stores.ts'
import { mockOutputs, runPipelineAlone } from '../../testing/executions.ts'
import { listExecutions } from '../namespaces/registry.ts'
import type { Execution } from './execution.ts'
import { runSubPipeline, type SubPipelineBody, type SubPipelineSpec } from './sub-pipeline.ts'

const SPEC: SubPipelineSpec = {
  node: 'sub_processing',
  name: 'processing',
  inputBindings: { input_file: '{{ prepare_data.input_path }}' },
  outputVariables: ['output_path'],
}

/** A pipeline of one node, `transform`, that reads its input and leaves something behind. */
const transform: SubPipelineBody = async (child) => {
  const input = await child.variables.resolve('{{ pipeline.input.input_file | string }}')
  await child.variables.set('transform.temp_path', '/tmp/x')
  const source = { entityType: 'node', entityId: 'transform' } as const
  await child.events.publish({ type: 'transform.completed', source })
  return { output_path: `${input as string}.out`, secret: 'inside only' }
}

async function prepare(parent: Execution, path = 's3://in'): Promise<void> {
  await parent.variables.set('prepare_data.input_path', path)
}

async function typesOf(execution: Execution): Promise<readonly string[]> {
  return (await execution.events.query()).map(({ type }) => type)
}

describe.each(STORE_KINDS)('sub-pipelines on $kind', ({ open }) => {
  async function runOnce(context: TestContext) {
    const { core } = await openWorld({ open }, context)
    const parent = await start(core)
    await prepare(parent)
    const result = await runSubPipeline(core, parent, SPEC, transform)
    return { parent, result, child: await core.openExecution(result.child!) }
  }

  test('N-04 a child runs under an execution id of its own', async (context) => {
    const { parent, result } = await runOnce(context)
    expect(result.status).toBe('completed')
    expect(result.child).not.toBe(parent.id)
  })

  test('N-25 N-29 a parent and its child share no event, and variables of the child stay with it', async (context) => {
    const { parent, child } = await runOnce(context)
    const [mine, theirs] = [await parent.events.query(), await child.events.query()]
    expect(mine.filter(({ id }) => theirs.some((event) => event.id === id))).toEqual([])
    expect(await parent.variables.exists('transform.temp_path')).toBe(false)
    expect(Object.keys(await parent.variables.list())).toEqual([
      'prepare_data.input_path',
      'sub_processing.output_path',
      'system.execution_id',
      'system.started_at',
    ])
  })

  test('N-26 N-27 the log of the parent shows the node that wraps the child, and no event of the child', async (context) => {
    const { parent } = await runOnce(context)
    expect(await parent.events.has('transform.completed')).toBe(false)
    expect(await typesOf(parent)).toEqual([
      'pipeline.started',
      'sub_processing.started',
      'sub_processing.completed',
    ])
  })

  test('N-28 a child records its own start and completion', async (context) => {
    const { parent, child } = await runOnce(context)
    expect(await typesOf(child)).toEqual(['pipeline.started', 'transform.completed', 'pipeline.completed'])
    expect((await typesOf(parent)).filter((type) => type === 'pipeline.started')).toHaveLength(1)
  })

  test('N-30 a parent receives the outputs listed in outputVariables, and no other', async (context) => {
    const { parent, result } = await runOnce(context)
    expect(result).toMatchObject({ status: 'completed' })
    expect('outputs' in result && result.outputs).toEqual({ output_path: 's3://in.out' })
    expect(Object.keys(await parent.variables.list('sub_processing'))).toEqual(['sub_processing.output_path'])
  })

  test('N-33 N-34 bindings become inputs of the child, and its declared outputs variables of the parent', async (context) => {
    const { parent, child } = await runOnce(context)
    expect(await child.variables.get('pipeline.input.input_file')).toBe('s3://in')
    expect(await child.variables.get('pipeline.output.output_path')).toBe('s3://in.out')
    expect(await parent.variables.get('sub_processing.output_path')).toBe('s3://in.out')
  })

  test('N-31 N-32 the child sees the values and texts that its bindings name, and nothing else of the parent', async (context) => {
    const { core } = await openWorld({ open }, context)
    const parent = await start(core)
    await prepare(parent)
    await parent.variables.set('prepare_data.rows', 7)
    const inputBindings = { rows: '{{ prepare_data.rows }}', label: 'of {{prepare_data.input_path}}' }
    let seen: unknown
    await runSubPipeline(core, parent, { ...SPEC, inputBindings, outputVariables: [] }, async (child) => {
      seen = {
        inputs: await child.variables.list('pipeline.input'),
        all: Object.keys(await child.variables.list()).length,
        parents: await child.variables.exists('prepare_data.rows'),
        event: await child.events.has('sub_processing.started'),
      }
      return undefined
    })
    expect(seen).toEqual({
      inputs: { 'pipeline.input.rows': 7, 'pipeline.input.label': 'of s3://in' },
      all: 4,
      parents: false,
      event: false,
    })
  })

  test('N-35 values cross as copies', async (context) => {
    const { core } = await openWorld({ open }, context)
    const parent = await start(core)
    const original = { rows: [1, 2] }
    await parent.variables.set('prepare_data.input_path', original)
    original.rows.push(3)
    const given = { output_path: { list: ['a'] } }
    await runSubPipeline(core, parent, SPEC, async (child) => {
      expect(await child.variables.get('pipeline.input.input_file')).toEqual({ rows: [1, 2] })
      const mine = (await child.variables.get('pipeline.input.input_file')) as { rows: number[] }
      expect(() => mine.rows.push(9)).toThrow(TypeError)
      return given
    })
    given.output_path.list.push('b')
    expect(await parent.variables.get('prepare_data.input_path')).toEqual({ rows: [1, 2] })
    expect(await parent.variables.get('sub_processing.output_path')).toEqual({ list: ['a'] })
  })

  test('N-36 a binding to a variable that is not set fails the node with its name, and no child starts', async (context) => {
    const { core, store } = await openWorld({ open }, context)
    const parent = await start(core)
    const result = await runSubPipeline(core, parent, SPEC, transform)
    expect(result).toMatchObject({
      status: 'failed',
      child: undefined,
      error: { code: 'core/missing-variable' },
    })
    expect((await parent.events.get('sub_processing.failed'))?.payload).toMatchObject({
      error: { message: expect.stringContaining('"prepare_data.input_path"') as string },
    })
    const records = await collect(listExecutions(store))
    expect(records.map((record) => record.id)).toEqual([parent.id])
  })

  test('N-37 a child that fails, and one that lacks a declared output, fails the node, and no output is copied', async (context) => {
    const { core } = await openWorld({ open }, context)
    const parent = await start(core)
    await prepare(parent)
    const failed = await runSubPipeline(core, parent, SPEC, async (child) => {
      await child.variables.set('pipeline.output.output_path', 'half')
      throw new Error('no disk left')
    })
    expect(failed.status).toBe('failed')
    expect((await parent.events.get('sub_processing.failed'))?.payload).toEqual({
      error: { message: 'no disk left' },
    })
    expect(await parent.events.has('sub_processing.completed')).toBe(false)
    expect(await parent.variables.list('sub_processing')).toEqual({})
    const child = await core.openExecution(failed.child!)
    expect((await child.readState()).status).toBe('failed')
    const lacking = await runSubPipeline(core, parent, { ...SPEC, node: 'again' }, () => Promise.resolve({}))
    expect(lacking).toMatchObject({ status: 'failed', error: { code: 'core/missing-output' } })
    expect(await parent.events.has('again.completed')).toBe(false)
  })

  test('N-16 outputs of a child are under pipeline.output from its end, and the parent reads exactly these', async (context) => {
    const { core } = await openWorld({ open }, context)
    const parent = await start(core)
    await prepare(parent)
    const during: boolean[] = []
    const result = await runSubPipeline(core, parent, SPEC, async (child) => {
      await expect(
        child.node('transform').variables.set('pipeline.output.output_path', 'x'),
      ).rejects.toThrow()
      during.push(await child.variables.exists('pipeline.output.output_path'))
      return transform(child)
    })
    expect(during).toEqual([false])
    const child = await core.openExecution(result.child!)
    expect(await child.variables.list('pipeline.output')).toEqual({
      'pipeline.output.output_path': 's3://in.out',
      'pipeline.output.secret': 'inside only',
    })
    expect(await parent.variables.list('sub_processing')).toEqual({
      'sub_processing.output_path': await child.variables.get('pipeline.output.output_path'),
    })
  })

  test('N-39 a sub-pipeline runs without a parent, and its outputs are under pipeline.output', async (context) => {
    const { core } = await openWorld({ open }, context)
    const alone = await runPipelineAlone(core, { name: 'processing', inputs: { input_file: 'a' } }, transform)
    expect(alone.outputs).toEqual({ output_path: 'a.out', secret: 'inside only' })
    expect(await alone.execution.variables.get('pipeline.output.output_path')).toBe('a.out')
    expect((await alone.execution.readState()).status).toBe('completed')
  })

  test("N-40 a parent runs in a test with a child's outputs supplied, and no child is created", async (context) => {
    const { core, store } = await openWorld({ open }, context)
    const parent = await start(core)
    const outputs = mockOutputs({ output_path: 's3://made-up', other: 1 })
    const result = await runSubPipeline(core, parent, SPEC, outputs)
    expect(result).toEqual({
      status: 'completed',
      child: undefined,
      outputs: { output_path: 's3://made-up' },
    })
    expect(await parent.variables.get('sub_processing.output_path')).toBe('s3://made-up')
    expect(await typesOf(parent)).toContain('sub_processing.completed')
    expect(await collect(listExecutions(store))).toHaveLength(1)
  })

  test('N-41 one definition serves two nodes of one parent and another parent, each under an id of its own', async (context) => {
    const { core } = await openWorld({ open }, context)
    const [one, other] = [await start(core), await start(core)]
    await prepare(one, 'one')
    await prepare(other, 'other')
    const results = await Promise.all([
      runSubPipeline(core, one, SPEC, transform),
      runSubPipeline(core, one, { ...SPEC, node: 'second' }, transform),
      runSubPipeline(core, other, SPEC, transform),
    ])
    expect(new Set(results.map(({ child }) => child)).size).toBe(3)
    expect(await one.variables.get('second.output_path')).toBe('one.out')
    expect(await other.variables.get('sub_processing.output_path')).toBe('other.out')
  })

  test('N-57 pipelines nest, and a grandparent sees nothing of its grandchild', async (context) => {
    const { core } = await openWorld({ open }, context)
    const depth = 6
    const nest = async (execution: Execution, level: number): Promise<Record<string, number>> => {
      await execution.variables.set(`level_${String(level)}.mark`, level)
      if (level < depth) {
        const spec = { node: 'inner', name: 'nested', outputVariables: ['depth'] }
        const result = await runSubPipeline(core, execution, spec, (child) => nest(child, level + 1))
        expect(result.status).toBe('completed')
        const marks = Object.keys(await execution.variables.list()).filter((name) => name.endsWith('.mark'))
        expect(marks).toEqual([`level_${String(level)}.mark`])
        expect(await typesOf(execution)).toEqual(['pipeline.started', 'inner.started', 'inner.completed'])
        return { depth: (await execution.variables.get('inner.depth')) as number }
      }
      return { depth: level }
    }
    const top = await start(core)
    expect(await nest(top, 0)).toEqual({ depth })
  })
})
