// What is acknowledged is on disk: seen by what the kernel was asked, since a test cannot cut the power.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { splitAtAnswers, traceCalls } from './support/durable/trace-calls.ts'

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'perago-durable-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

test('ST-101 a SQLite store syncs its log before it acknowledges a batch', (context) => {
  const calls = traceCalls(
    context,
    new URL('./support/durable/commit-batches.ts', import.meta.url),
    join(newDirectory(), 'store.db'),
  )
  const batches = splitAtAnswers(calls)
  expect(batches).toHaveLength(4)
  for (const batch of batches) {
    expect(batch.filter(({ text }) => /^f(data)?sync\(\d+<.*store\.db-wal>/.test(text))).not.toEqual([])
  }
}, 90_000)

test('EE-64 an object is synced, then named, then its directory synced, and only then acknowledged', (context) => {
  const objects = splitAtAnswers(
    traceCalls(context, new URL('./support/durable/store-blobs.ts', import.meta.url), newDirectory()),
  )
  expect(objects).toHaveLength(3)
  for (const calls of objects) {
    const steps = calls.flatMap(({ name, text }) => {
      if (/^f(data)?sync\(\d+<.*\/temp\/[0-9a-f]+>/.test(text)) return ['sync the bytes']
      if (name.startsWith('rename')) return ['rename']
      if (/^f(data)?sync\(\d+<.*\/objects>/.test(text)) return ['sync the directory']
      return []
    })
    expect(steps).toEqual(['sync the bytes', 'rename', 'sync the directory'])
  }
}, 90_000)

test('ES-302 small objects share a sync before the answer; each is synced and named before its journal is removed', (context) => {
  const script = new URL('./support/durable/store-small-blobs.ts', import.meta.url)
  const [stored = [], filed = []] = splitAtAnswers(traceCalls(context, script, newDirectory()))
  const syncs = stored.filter(({ text }) => /^f(data)?sync\(\d+<.*\/incoming\/a>/.test(text))
  expect(syncs.length).toBeGreaterThan(0)
  expect(syncs.length).toBeLessThan(8)
  // The name of the journal itself is durable before.
  const inDirectory = stored.findIndex(({ text }) => /^f(data)?sync\(\d+<.*\/incoming>/.test(text))
  expect(inDirectory).toBeGreaterThan(-1)
  expect(inDirectory).toBeLessThan(stored.indexOf(syncs.at(-1) as never))
  expect(stored.filter(({ name }) => name.startsWith('rename'))).toEqual([])

  const synced = new Set<string>()
  let named = 0
  for (const { name, text } of filed) {
    const temp = /\/temp\/([0-9a-f]+)/.exec(text)?.[1] ?? ''
    if (/^f(data)?sync\(\d+<.*\/temp\//.test(text)) synced.add(temp)
    if (!name.startsWith('rename')) continue
    expect(synced).toContain(temp)
    named += 1
  }
  expect(named).toBe(64)
  const last = (test: (call: (typeof filed)[number]) => boolean) => filed.findLastIndex(test)
  const directorySync = last(({ text }) => /^f(data)?sync\(\d+<.*\/objects>/.test(text))
  expect(directorySync).toBeGreaterThan(last(({ name }) => name.startsWith('rename')))
  expect(filed.findIndex(({ name }) => name === 'ftruncate')).toBeGreaterThan(directorySync)
}, 90_000)

test('X-49 a checkpoint is synced, then named, then its directory synced, and only then acknowledged', (context) => {
  const script = new URL('./support/durable/store-checkpoints.ts', import.meta.url)
  const bodies = splitAtAnswers(traceCalls(context, script, newDirectory()))
  expect(bodies).toHaveLength(3)
  for (const calls of bodies) {
    const steps = calls.flatMap(({ name, text }) => {
      if (/^f(data)?sync\(\d+<.*\.tmp>/.test(text)) return ['sync the bytes']
      if (name.startsWith('rename')) return ['rename']
      if (/^f(data)?sync\(\d+<.*\/exec_1>/.test(text)) return ['sync the directory']
      return []
    })
    expect(steps).toEqual(['sync the bytes', 'rename', 'sync the directory'])
  }
}, 90_000)
