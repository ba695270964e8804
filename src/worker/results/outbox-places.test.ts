// Goal: a result in a file that was made ahead is no less durable than another, and is sent once.
import type * as FileSystem from 'node:fs'
import { readFileSync } from 'node:fs'
import { mkdtemp, open as openFile, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepingLogger, recordOf } from '../../../test/support/worker/world.ts'
import { silentLogger, type Logger } from '../../base/logger.ts'
import { OUTBOX_PLACE_BYTES } from '../limits.ts'
import type { TaskResult } from '../ports.ts'
import { openOutbox, type OpenOutbox } from './outbox.ts'

/** What each data sync wrote to the disk, by the file as it was at that moment. */
const synced = vi.hoisted((): string[] => [])
let syncFails = vi.hoisted(() => false)
vi.mock('node:fs', async (original) => {
  const real = await original<typeof FileSystem>()
  const fdatasync = (file: number, done: (error: Error | null) => void): void => {
    synced.push(real.readFileSync(real.readlinkSync(`/proc/self/fd/${file}`), 'utf8'))
    if (syncFails) done(Object.assign(new Error('no'), { code: 'EIO' }))
    else real.fdatasync(file, done)
  }
  return { ...real, fdatasync }
})

let directory: string
let now = 0
const open = (logger: Logger = silentLogger): Promise<OpenOutbox> =>
  openOutbox({ directory, logger, now: () => new Date(now++) })

beforeEach(async () => {
  synced.length = 0
  syncFails = false
  directory = await mkdtemp(join(tmpdir(), 'perago-places-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const { taskId, workflowId, workerId } = recordOf()
const resultOf = (value: string): TaskResult => ({
  ...{ taskId, workflowId, workerId },
  status: 'COMPLETED',
  output: { value },
})
const filesNow = async (): Promise<readonly string[]> =>
  (await readdir(directory)).filter((name) => name.endsWith('.json')).sort()
const valuesOf = async (outbox: OpenOutbox): Promise<readonly unknown[]> =>
  (await outbox.pending()).map(({ result }) => result.output['value'])

/** An outbox with one file made ahead, and its name. */
async function openWithPlace(
  logger?: Logger,
): Promise<{ readonly outbox: OpenOutbox; readonly name: string }> {
  const outbox = await open(logger)
  await (await outbox.put(recordOf(), resultOf('first'))).settle()
  await vi.waitFor(async () => expect(await filesNow()).toHaveLength(1))
  const [name = ''] = await filesNow()
  await vi.waitFor(() => expect(readFileSync(join(directory, name), 'utf8')).toHaveLength(OUTBOX_PLACE_BYTES))
  // Until its directory is synced as well.
  await new Promise((resolve) => setTimeout(resolve, 50))
  return { outbox, name }
}

test('WK-357 a result goes into a file made ahead, and is on the disk before it is sent', async () => {
  const { outbox, name } = await openWithPlace()
  synced.length = 0
  const item = await outbox.put(recordOf(), resultOf('second'))
  expect(await filesNow()).toEqual([name])
  expect(synced.map((text) => (JSON.parse(text) as { result: TaskResult }).result)).toEqual([
    resultOf('second'),
  ])
  expect(await valuesOf(outbox)).toEqual([])
  // The next process, after a crash.
  expect(await valuesOf(await open())).toEqual(['second'])
  await item.settle()
  expect((await readFile(join(directory, name), 'utf8')).trim()).toBe('')
})

test('WK-357 settled results are not given again, and the file serves the next, shorter one', async () => {
  const { outbox, name } = await openWithPlace()
  await (await outbox.put(recordOf(), resultOf('x'.repeat(2_000)))).settle()
  await outbox.put(recordOf(), resultOf('short'))
  expect(await filesNow()).toEqual([name])
  expect(await valuesOf(await open())).toEqual(['short'])
})

test('WK-357 one that was not delivered is given again, in the order of writing, until it is settled', async () => {
  const { outbox } = await openWithPlace()
  const [one, two] = [
    await outbox.put(recordOf(), resultOf('one')),
    await outbox.put(recordOf(), resultOf('two')),
  ]
  two.release()
  one.release()
  expect(await valuesOf(outbox)).toEqual(['one', 'two'])
  expect(await valuesOf(outbox)).toEqual([])
  await one.settle()
  two.release()
  expect(await valuesOf(outbox)).toEqual(['two'])
})

test('WK-357 a larger result gets its own file', async () => {
  const { outbox } = await openWithPlace()
  const value = 'x'.repeat(OUTBOX_PLACE_BYTES)
  await outbox.put(recordOf(), resultOf(value))
  expect(await valuesOf(await open())).toEqual([value])
})

test('WK-357 what a power cut tore is set aside, and the fallback of its attempt is sent', async () => {
  const { logger, lines } = keepingLogger()
  const { outbox, name } = await openWithPlace()
  await outbox.putFallback(recordOf(), { ...resultOf('none'), status: 'FAILED' })
  await outbox.put(recordOf(), resultOf('torn'))
  const text = await readFile(join(directory, name), 'utf8')
  await writeFile(join(directory, name), text.slice(0, 100).padEnd(OUTBOX_PLACE_BYTES))
  const next = await open(logger)
  expect((await next.pending()).map(({ result }) => result.status)).toEqual(['FAILED'])
  expect(lines).toEqual(['a result in the outbox cannot be read and is set aside'])
})

test('WK-357 a file that cannot be written is given up, and the result gets its own', async () => {
  const { logger, lines } = keepingLogger()
  const { outbox, name } = await openWithPlace(logger)
  syncFails = true
  await outbox.put(recordOf(), resultOf('kept'))
  syncFails = false
  expect(await filesNow()).not.toContain(name)
  expect(await valuesOf(await open())).toEqual(['kept'])
  expect(lines[0]).toMatch(/made ahead cannot be written/)
})

test('WK-357 closing removes what was made ahead and leaves results; so does the next process', async () => {
  const { outbox } = await openWithPlace()
  await outbox.close()
  expect(await filesNow()).toEqual([])
  // Killed: nothing is closed.
  await openWithPlace()
  await open()
  expect(await filesNow()).toEqual([])
  const { outbox: last } = await openWithPlace()
  await last.put(recordOf(), resultOf('stays'))
  await last.close()
  expect(await valuesOf(await open())).toEqual(['stays'])
})

test('WK-357 what is settled after the end is removed, and no other file is written that has got its number', async () => {
  const { outbox, name } = await openWithPlace()
  const item = await outbox.put(recordOf(), resultOf('late'))
  await outbox.close()
  const others = Array.from({ length: 64 }, (_, n) => join(directory, `other-${n}`))
  const handles = await Promise.all(others.map((path) => openFile(path, 'w')))
  await item.settle()
  await Promise.all(handles.map((handle) => handle.close()))
  for (const path of others) expect(await readFile(path, 'utf8')).toBe('')
  expect(await filesNow()).not.toContain(name)
})

test('WK-357 a result that is settled twice frees its file once', async () => {
  const { outbox } = await openWithPlace()
  const item = await outbox.put(recordOf(), resultOf('one'))
  await Promise.all([item.settle(), item.settle()])
  await Promise.all([outbox.put(recordOf(), resultOf('two')), outbox.put(recordOf(), resultOf('three'))])
  expect([...(await valuesOf(await open()))].sort()).toEqual(['three', 'two'])
})
