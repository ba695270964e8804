// Goal: a result that was put is there after a crash at any line, once, and never dropped without a word.
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import {
  mkdir,
  mkdtemp,
  open as openFile,
  readFile,
  readdir,
  rm,
  symlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { keepingLogger, recordOf } from '../../../test/support/worker/world.ts'
import { fillDisk, mountSmallDisk } from '../../../test/support/small-disk.ts'
import { silentLogger } from '../../base/logger.ts'
import { nodeFaultOf } from '../../base/node-fault.ts'
import { openOutbox, type Outbox } from './outbox.ts'
import type { TaskResult } from '../ports.ts'

let directory: string
let now = 0
const open = (logger = silentLogger): Promise<Outbox> =>
  openOutbox({ directory, logger, now: () => new Date(now++) })

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-outbox-'))
})
afterEach(() => rm(directory, { recursive: true, force: true }))

const { taskId, workflowId, workerId } = recordOf()
const result: TaskResult = {
  taskId,
  workflowId,
  workerId,
  status: 'COMPLETED',
  output: { result: 1 },
  logs: ['a'],
}

test('WK-50 what was put and not settled is given to the next process, as it was, oldest first', async () => {
  const first = await open()
  await first.put(recordOf(), result)
  await first.put(recordOf({ pollCount: 2 }), { ...result, status: 'FAILED', reasonForIncompletion: 'no' })
  const [one, two, ...others] = await (await open()).pending()
  expect(others).toEqual([])
  expect(one).toMatchObject({
    result,
    attempt: { taskId, pollCount: 1, startTimeMs: recordOf().startTimeMs },
  })
  expect(two).toMatchObject({
    result: { status: 'FAILED', reasonForIncompletion: 'no' },
    attempt: { pollCount: 2 },
  })
})

test('WK-50 of the attempt nothing is kept but what tells it apart: no input, no output', async () => {
  const outbox = await open()
  await outbox.put(recordOf({ input: { params: 'private' } }), result)
  const [name = ''] = (await readdir(directory)).filter((entry) => readText(entry).includes(taskId))
  expect(await readFile(join(directory, name), 'utf8')).not.toContain('private')
})

test('WK-51 what is settled is forgotten', async () => {
  const item = await (await open()).put(recordOf(), result)
  await item.settle()
  expect(await (await open()).pending()).toEqual([])
})

test('WK-52 what the queue refuses is set aside with the reason, and not sent again', async () => {
  const item = await (await open()).put(recordOf(), result)
  await item.refuse('superseded')
  expect(await (await open()).pending()).toEqual([])
  const [name = ''] = await readdir(join(directory, 'refused'))
  expect(JSON.parse(await readFile(join(directory, 'refused', name), 'utf8'))).toMatchObject({
    refused: 'superseded',
    result: { output: { result: 1 } },
  })
})

test('WK-53 whoever is at a result is the only one: pending gives it again when it was left', async () => {
  const outbox = await open()
  const item = await outbox.put(recordOf(), result)
  expect(await outbox.pending()).toEqual([])
  item.release()
  expect(await outbox.pending()).toHaveLength(1)
  expect(await outbox.pending()).toEqual([])
})

test('WK-54 a crash while writing leaves no half result, and what cannot be read is set aside and told', async () => {
  await open()
  await writeFile(join(directory, '.000000000000001-aa.json.tmp'), '{"attempt":')
  await writeFile(join(directory, '000000000000002-bb.json'), '{"attempt":')
  await writeFile(join(directory, '000000000000003-cc.json'), '{"result":{}}')
  const { logger, lines } = keepingLogger()
  expect(await (await open(logger)).pending()).toEqual([])
  expect(lines).toEqual(Array(2).fill('a result in the outbox cannot be read and is set aside'))
  expect((await readdir(join(directory, 'refused'))).sort()).toEqual([
    'unreadable-000000000000002-bb.json',
    'unreadable-000000000000003-cc.json',
  ])
})

test('WK-54 a disk that does not take it is an error that says what to do', async () => {
  const outbox = await open()
  await rm(directory, { recursive: true })
  await expect(outbox.put(recordOf(), result)).rejects.toMatchObject({ code: 'worker/outbox-not-written' })
})

test('WK-55 what an attempt would leave unsaid is said by the next process, unless there is a result or nothing to say', async () => {
  const failed: TaskResult = { ...result, status: 'FAILED', output: {}, reasonForIncompletion: 'it ended' }
  const first = await open()
  const [begun, ended, decided] = [1, 2, 3].map((pollCount) => recordOf({ pollCount }))
  await first.putFallback(begun!, failed)
  await (await first.putFallback(ended!, failed)).remove()
  await first.putFallback(decided!, failed)
  await first.put(decided!, result)
  expect(await first.pending()).toEqual([])
  const told = await (await open()).pending()
  expect(told.map(({ attempt, result: { status } }) => [attempt.pollCount, status])).toEqual([
    [1, 'FAILED'],
    [3, 'COMPLETED'],
  ])
  for (const item of told) await item.settle()
  expect(await (await open()).pending()).toEqual([])
})

test('WK-324 it says how the process ended, where that is known', async () => {
  const failed: TaskResult = { ...result, status: 'FAILED', output: {}, reasonForIncompletion: 'it ended' }
  await (await open()).putFallback(recordOf(), failed)
  const next = await openOutbox({
    ...{ directory, logger: silentLogger, now: () => new Date(), formerEnd: 'it was killed' },
  })
  const told = await next.pending()
  expect(
    told.map(({ result: { status, reasonForIncompletion } }) => [status, reasonForIncompletion]),
  ).toEqual([['FAILED', 'it was killed']])
})

test('WK-55 what was cut off while it was written says nothing', async () => {
  await open()
  await writeFile(join(directory, 'begun', '000000000000001-aa.json'), '{"attempt": {"taskI')
  expect(await (await open()).pending()).toEqual([])
})

function readText(name: string): string {
  return name.endsWith('.json') ? readFileSync(join(directory, name), 'utf8') : ''
}

/** What is synced to the disk, by its path at that moment. */
async function watchSyncs(onSync: (path: string) => void): Promise<void> {
  const handle = await openFile(directory, 'r')
  const shared = Object.getPrototypeOf(handle) as FileHandle
  await handle.close()
  const sync = Reflect.get<FileHandle, 'sync'>(shared, 'sync')
  const spy = vi.spyOn(shared, 'sync').mockImplementation(function (this: FileHandle) {
    onSync(readlinkSync(`/proc/self/fd/${this.fd}`))
    return sync.call(this)
  })
  onTestFinished(() => spy.mockRestore())
}

test('WK-212 a result is on the disk before it is sent: the whole file first, then its name', async () => {
  const outbox = await open()
  const synced: unknown[] = []
  await watchSyncs((path) => {
    const isFile = path.endsWith('.tmp')
    const final = path.replace(/\/\.([^/]+)\.tmp$/, '/$1')
    synced.push(
      isFile
        ? ['file', JSON.parse(readFileSync(path, 'utf8')), existsSync(final)]
        : ['directory', path === directory],
    )
  })
  const item = await outbox.put(recordOf(), result)
  expect(synced).toEqual([
    ['file', expect.objectContaining({ result }), false],
    ['directory', true],
  ])
  await item.refuse('no')
  expect(synced.filter((one) => Array.isArray(one) && one[0] === 'file')).toHaveLength(2)
})

test('WK-212 the directories of an outbox are on the disk as well', async () => {
  const synced: string[] = []
  await watchSyncs((path) => synced.push(path))
  await openOutbox({ directory: join(directory, 'outbox', '0'), logger: silentLogger, now: () => new Date() })
  expect(synced.sort()).toEqual([directory, join(directory, 'outbox'), join(directory, 'outbox', '0')])
})

test('WK-213 a refused result that cannot be written once more is moved as it is', async () => {
  const { logger, lines } = keepingLogger()
  const outbox = await open(logger)
  const item = await outbox.put(recordOf(), result)
  const [name = ''] = (await readdir(directory)).filter((entry) => readText(entry).includes(taskId))
  // In place of the file that would be written first, as a full disk would fail it.
  await mkdir(join(directory, 'refused', `.${name}.tmp`))
  await item.refuse('no')
  expect(JSON.parse(await readFile(join(directory, 'refused', name), 'utf8'))).toMatchObject({ result })
  expect(await outbox.pending()).toEqual([])
  expect(lines).toEqual(['a refused result is set aside without the reason'])
})

test('WK-53 a result that is settled while the others are read is passed over', async () => {
  const outbox = await open()
  const item = await outbox.put(recordOf(), result)
  item.release()
  await symlink(join(directory, 'gone'), join(directory, '000000000000000-aa.json'))
  expect(await outbox.pending()).toHaveLength(1)
})

test('WK-241 an outbox for which a full disk has no room is a fault of the machine', async (context) => {
  const disk = await mountSmallDisk('ext4', context)
  fillDisk(disk, 'files')
  const failure: unknown = await openOutbox({
    directory: join(disk, 'outbox', '0'),
    logger: silentLogger,
    now: () => new Date(0),
  }).catch((error: unknown) => error)
  expect(nodeFaultOf(failure)).toMatchObject({ code: 'ENOSPC' })
})
