import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import { watchSources } from './watch-sources.ts'

describe('source files', () => {
  let directory: string
  let stop: AbortController

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'perago-sources-'))
    stop = new AbortController()
    await mkdir(join(directory, 'lib'))
    await writeFile(join(directory, 'tasks.ts'), 'export {}')
  })
  afterEach(async () => {
    stop.abort()
    await rm(directory, { recursive: true, force: true })
  })

  const follow = (): (() => Promise<readonly string[]>) => {
    const changes = watchSources(directory, { clock: systemClock, signal: stop.signal })
    const first = changes.next()
    let next: typeof first | undefined = first
    return async () => {
      const { value } = await (next ?? changes.next())
      next = undefined
      return [...(value ?? [])].map((path) => relative(directory, path)).sort()
    }
  }

  test('CL-60 what is changed, added, replaced or removed together is told once', async () => {
    const changed = follow()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await writeFile(join(directory, 'tasks.ts'), 'export const changed = true')
    await writeFile(join(directory, 'lib', 'added.mjs'), 'export {}')
    expect(await changed()).toEqual(['lib/added.mjs', 'tasks.ts'])
    const again = changed()
    await writeFile(join(directory, 'tasks.ts.tmp'), 'export const changed = fals')
    await rename(join(directory, 'tasks.ts.tmp'), join(directory, 'tasks.ts'))
    await rm(join(directory, 'lib', 'added.mjs'))
    expect(await again).toEqual(['lib/added.mjs', 'tasks.ts'])
  })

  test('CL-60 data, hidden directories and packages are not looked at', async () => {
    const changed = follow()
    await new Promise((resolve) => setTimeout(resolve, 50))
    for (const path of ['node_modules/x/i.js', '.perago/work/t.ts', 'dist/m.js']) {
      await mkdir(join(directory, path, '..'), { recursive: true })
      await writeFile(join(directory, path), '1')
    }
    await writeFile(join(directory, 'orders.csv'), 'a,b')
    await writeFile(join(directory, 'orders.json'), '[]')
    await writeFile(join(directory, 'lib', 'only.ts'), '1')
    expect(await changed()).toEqual(['lib/only.ts'])
  })

  test('CL-60 a named file is looked at whatever it is called', async () => {
    const path = join(directory, 'daily.yaml')
    await writeFile(path, 'name: daily')
    const changes = watchSources(directory, { clock: systemClock, signal: stop.signal, also: [path] })
    const next = changes.next()
    await new Promise((resolve) => setTimeout(resolve, 50))
    await writeFile(path, 'name: daily-2')
    expect((await next).value).toEqual([path])
  })

  test('CL-60 watching ends when it is stopped', async () => {
    const changes = watchSources(directory, { clock: systemClock, signal: stop.signal })
    const next = changes.next()
    stop.abort()
    expect(await next).toEqual({ done: true, value: undefined })
  })
})
