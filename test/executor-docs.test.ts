// The guide to executors: its program runs, with a cluster in place of the one that it names.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Engine, ExecutorPool } from '../src/perago-engine.ts'
import { graphOf, task } from './support/engine-graphs.ts'
import { PROJECT_ROOT, readText } from './support/source-tree.ts'

test('EN-750 the program of the guide attaches an executor, which gets its units', async () => {
  const [, program = ''] = /^```ts\n([\s\S]*?)^```/m.exec(readText('docs/guides/attach-an-executor.md')) ?? []
  mkdirSync(join(PROJECT_ROOT, 'test-report'), { recursive: true })
  const directory = mkdtempSync(join(PROJECT_ROOT, 'test-report', 'executors-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const sourceOf = (entry: string): string => JSON.stringify(join(PROJECT_ROOT, 'src', entry))
  const file = join(directory, 'example.ts')
  writeFileSync(
    file,
    `${program
      .replace("'perago/engine'", sourceOf('perago-engine.ts'))
      .replace("'perago/stores/sqlite'", sourceOf('stores/sqlite.ts'))
      .replace("'engine.db'", JSON.stringify(join(directory, 'engine.db')))
      .replace("'executor-results'", JSON.stringify(join(directory, 'results')))
      .replace('console.log(pool.list())', '')}\nexport { engine, pool }\n`,
  )
  const asked: string[] = []
  vi.stubGlobal('fetch', (url: string, options: { readonly body?: string }) => {
    asked.push(url)
    return Promise.resolve(Response.json({ model: `of ${options.body ?? 'nothing'}` }))
  })
  onTestFinished(() => {
    vi.unstubAllGlobals()
  })
  const { engine, pool } = (await import(/* @vite-ignore */ file)) as { engine: Engine; pool: ExecutorPool }
  onTestFinished(async () => {
    await pool.close({ deadlineMs: 0 })
    await engine.close()
  })
  await engine.control.registerTask({ name: 'train' })
  const unit = task('a', [], { name: 'train', inputParameters: { rows: 3 } })
  const id = await engine.control.startGraph(graphOf([unit]), {})
  await expect
    .poll(async () => (await engine.control.readWorkflow(id))?.status, { timeout: 10_000 })
    .toBe('COMPLETED')
  expect((await engine.control.readWorkflow(id))?.output).toEqual({ model: 'of {"rows":3}' })
  expect([...new Set(asked)]).toEqual(['https://north.example/health', 'https://north.example/train'])
  expect(pool.list()).toMatchObject([{ name: 'north', labels: { cloud: 'north' }, health: { is: 'up' } }])
})
