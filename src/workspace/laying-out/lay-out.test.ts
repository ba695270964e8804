import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { memorySource } from '../../../test/support/workspace/memory-source.ts'
import {
  ATTEMPT,
  attemptsOf,
  temporaryDirectory,
  temporaryRoot,
} from '../../../test/support/workspace/temporary-root.ts'
import { diffWorkspace } from '../comparing/diff.ts'
import { fetchFrom, type FileProvider } from './file-provider.ts'
import { probeFileSystem } from './file-system-traits.ts'
import { layOut } from './lay-out.ts'
import type { ObjectSource } from '../ports.ts'

/** A name that Unicode can write in two ways, which this file keeps apart by escapes. */
const COMPOSED = 'caf\u00e9'
const DECOMPOSED = 'cafe\u0301'

function withCode(code: string): Error {
  return expect.objectContaining({ code }) as Error
}

/** The memory source, with every stream replaced. */
function sourceGiving(body: () => Readable): ObjectSource {
  return { ...memorySource({ a: 'four', b: 'more' }), read: () => Promise.resolve(body()) }
}

describe('what is laid out', () => {
  test('WS-10 every object below the prefix becomes a file with exactly its bytes', async () => {
    const root = await temporaryRoot()
    const bytes = Uint8Array.from({ length: 256 }, (_, value) => value)
    const large = Buffer.alloc(200_000, bytes)
    const deep = `${'d/'.repeat(100)}leaf`
    const source = memorySource({
      'in/empty': '',
      'in/bytes': bytes,
      'in/large': large,
      [`in/${COMPOSED}`]: 'composed',
      [`in/${DECOMPOSED}`]: 'decomposed',
      [`in/${deep}`]: 'deep',
      'in/a\\b\n c': 'odd name',
      'out/x': 'outside',
    })
    const { dir, manifest } = await layOut({ root, attempt: ATTEMPT, source, spec: { prefix: 'in' } })
    expect(readdirSync(dir).sort()).toEqual(
      ['a\\b\n c', 'bytes', COMPOSED, DECOMPOSED, 'd', 'empty', 'large'].sort(),
    )
    expect(readFileSync(join(dir, 'empty'))).toHaveLength(0)
    expect(readFileSync(join(dir, 'bytes'))).toEqual(Buffer.from(bytes))
    expect(readFileSync(join(dir, 'large'))).toEqual(large)
    expect(readFileSync(join(dir, COMPOSED), 'utf8')).toBe('composed')
    expect(readFileSync(join(dir, DECOMPOSED), 'utf8')).toBe('decomposed')
    expect(readFileSync(join(dir, deep), 'utf8')).toBe('deep')
    expect(manifest.count).toBe(7)
    expect(source.lists).toEqual(['in/'])
    expect(source.reads).toHaveLength(7)
  })

  test('WS-10 a prefix without objects gives an empty directory', async () => {
    const workspace = await layOut({
      root: await temporaryRoot(),
      attempt: ATTEMPT,
      source: memorySource({}),
      spec: {},
    })
    expect(readdirSync(workspace.dir)).toEqual([])
    expect(workspace.manifest.count).toBe(0)
  })

  test('WS-11 the marker stands beside the files, so a file of any name is laid out and published', async () => {
    const root = await temporaryRoot()
    const source = memorySource({
      '.perago-attempt.json': '{"mine": true}',
      'attempt.json': '{}',
      '.clock': 'x',
    })
    const workspace = await layOut({ root, attempt: ATTEMPT, source, spec: {} })
    expect(readdirSync(workspace.dir).sort()).toEqual(['.clock', '.perago-attempt.json', 'attempt.json'])
    const marker = JSON.parse(readFileSync(join(workspace.dir, '..', 'attempt.json'), 'utf8')) as unknown
    expect(marker).toMatchObject({
      format: 'perago-attempt',
      taskId: 'task/1',
      retryCount: 0,
      pid: process.pid,
    })
    await writeFile(join(workspace.dir, '.perago-attempt.json'), '{"mine": false}')
    const { uploads, deletes } = await diffWorkspace(workspace)
    expect(uploads.map(({ key }) => key)).toEqual(['.perago-attempt.json'])
    expect(deletes).toEqual([])
  })

  test('WS-12 removing takes all of it, and removing again is fine', async () => {
    const root = await temporaryRoot()
    const source = memorySource({ 'a/b': '1' })
    const workspace = await layOut({ root, attempt: ATTEMPT, source, spec: {} })
    const removal = workspace.remove()
    expect(workspace.remove()).toBe(removal)
    await removal
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-12 removing what somebody else has removed is fine', async () => {
    const root = await temporaryRoot()
    const workspace = await layOut({ root, attempt: ATTEMPT, source: memorySource({ a: '1' }), spec: {} })
    await rm(join(workspace.dir, '..'), { recursive: true })
    await workspace.remove()
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-12 one task id handed out twice gets two directories', async () => {
    const root = await temporaryRoot()
    const options = { root, attempt: ATTEMPT, source: memorySource({ a: '1' }), spec: {} }
    const [first, second] = await Promise.all([layOut(options), layOut(options)])
    expect(first.dir).not.toBe(second.dir)
    await first.remove()
    expect(readFileSync(join(second.dir, 'a'), 'utf8')).toBe('1')
  })

  test('WS-13 no more downloads are under way than allowed, and what is done is told', async () => {
    const objects = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, 'four']))
    const source = memorySource(objects)
    const fetch = fetchFrom(source)
    let underWay = 0
    let most = 0
    const provider: FileProvider = {
      provide: async (request) => {
        most = Math.max(most, ++underWay)
        const provided = await fetch.provide(request)
        underWay--
        return provided
      },
    }
    await layOut({
      root: await temporaryRoot(),
      attempt: ATTEMPT,
      source,
      spec: {},
      provider,
      limits: { downloadsInFlight: 5 },
    })
    expect(most).toBe(5)
  })
})

describe('what is refused, and what fails', () => {
  test('WS-14 unsafe keys are refused before anything is written or read', async () => {
    const root = await temporaryRoot()
    const source = memorySource({ 'a//b': '1', 'dir/': '', fine: '2', p: '3', 'p/q': '4' })
    const failure = layOut({ root, attempt: ATTEMPT, source, spec: {} })
    await expect(failure).rejects.toThrow(withCode('workspace/unsafe-keys'))
    await expect(failure).rejects.toThrow(/3 keys .*"a\/\/b".*"dir\/".*"p" would be a file and a directory/)
    expect(source.reads).toEqual([])
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-15 what surely does not fit on the disk is not begun', async () => {
    const root = await temporaryRoot()
    const source = memorySource({ a: { content: '', sizeBytes: 2 ** 60 } })
    const failure = layOut({ root, attempt: ATTEMPT, source, spec: {}, limits: { maxBytes: 2 ** 61 } })
    await expect(failure).rejects.toThrow(withCode('workspace/disk-full'))
    await expect(failure).rejects.toMatchObject({ kind: 'unavailable', details: { needBytes: 2 ** 60 } })
    expect(source.reads).toEqual([])
    expect(await attemptsOf(root)).toEqual([])
  })

  test.each([
    ['ENOSPC', 'workspace/disk-full'],
    ['EDQUOT', 'workspace/disk-full'],
    ['EIO', 'workspace/disk-failed'],
  ])('WS-15 a disk that answers %s half-way gives %s, and the directory goes', async (systemCode, code) => {
    const root = await temporaryRoot()
    const source = memorySource({ a: '1', b: '2', c: '3' })
    const fetch = fetchFrom(source)
    const provider: FileProvider = {
      provide: (request) =>
        request.object.key === 'b'
          ? Promise.reject(Object.assign(new Error(`${systemCode}: write`), { code: systemCode }))
          : fetch.provide(request),
    }
    const failure = layOut({ root, attempt: ATTEMPT, source, spec: {}, provider })
    await expect(failure).rejects.toThrow(withCode(code))
    await expect(failure).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await attemptsOf(root)).toEqual([])
  })

  test.each([
    ['ends early', () => Readable.from([Buffer.from('fo')], { objectMode: false }), 'workspace/wrong-size'],
    ['does not end', () => Readable.from(endless(), { objectMode: false }), 'workspace/wrong-size'],
    ['gives text', () => Readable.from(['four']), 'workspace/text-stream'],
  ])('WS-16 a stream that %s fails the layout, and the directory goes', async (_what, body, code) => {
    const root = await temporaryRoot()
    const failure = layOut({ root, attempt: ATTEMPT, source: sourceGiving(body), spec: {} })
    await expect(failure).rejects.toThrow(withCode(code))
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-16 a stream that breaks fails the layout with its own error', async () => {
    const root = await temporaryRoot()
    const broken = new Error('connection lost')
    const body = (): Readable => new Readable({ read: (): void => undefined }).destroy(broken)
    const failure = layOut({ root, attempt: ATTEMPT, source: sourceGiving(body), spec: {} })
    await expect(failure).rejects.toBe(broken)
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-16 a provider that leaves a file of another size is caught', async () => {
    const root = await temporaryRoot()
    const provider: FileProvider = { provide: ({ path }) => writeFile(path, 'too long').then(() => ({})) }
    const failure = layOut({ root, attempt: ATTEMPT, source: memorySource({ a: '1' }), spec: {}, provider })
    await expect(failure).rejects.toThrow(withCode('workspace/not-provided'))
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-17 an abort stops the downloads under way, begins no other, and the directory goes', async () => {
    const root = await temporaryRoot()
    const stop = new AbortController()
    const source = memorySource({ a: '1', b: '2', c: '3' })
    const aborted: string[] = []
    const begun: string[] = []
    const provider: FileProvider = {
      provide: ({ object, signal }) =>
        new Promise((_resolve, reject) => {
          begun.push(object.key)
          signal.addEventListener('abort', () => {
            aborted.push(object.key)
            reject(signal.reason as Error)
          })
          if (begun.length === 2) stop.abort(new Error('lease lost'))
        }),
    }
    const limits = { downloadsInFlight: 2 }
    const failure = layOut({
      root,
      attempt: ATTEMPT,
      source,
      spec: {},
      provider,
      limits,
      signal: stop.signal,
    })
    await expect(failure).rejects.toThrow('lease lost')
    expect(begun).toEqual(['a', 'b'])
    expect(aborted).toEqual(['a', 'b'])
    expect(await attemptsOf(root)).toEqual([])
  })

  test('WS-17 what was aborted before it began writes nothing', async () => {
    const root = await temporaryRoot()
    const signal = AbortSignal.abort(new Error('too late'))
    const failure = layOut({ root, attempt: ATTEMPT, source: memorySource({ a: '1' }), spec: {}, signal })
    await expect(failure).rejects.toThrow('too late')
    expect(await attemptsOf(root)).toEqual([])
  })
})

test('WS-18 what is said of a file system is what it does', async () => {
  const directory = await temporaryDirectory()
  const traits = probeFileSystem(join(directory, 'probe'))
  expect(existsSync(join(directory, 'probe'))).toBe(false)
  for (const name of ['A', 'a', COMPOSED, DECOMPOSED]) await writeFile(join(directory, name), name)
  const names = await readdir(directory)
  expect(names.includes('a') && names.includes('A')).toBe(!traits.foldsCase)
  expect((await readFile(join(directory, COMPOSED), 'utf8')) === COMPOSED).toBe(!traits.foldsUnicode)
  expect(names.includes(COMPOSED)).toBe(traits.keepsNames)
})

function* endless(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(3)
}
