import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { expect } from 'vitest'
import { branchName } from '../../../src/base/ids.ts'
import { generatedBody, GENERATED_PIECE_BYTES, heldBytes } from './big-bodies.ts'
import {
  all,
  byteOrder,
  bytes,
  commitOf,
  failureOf,
  headOf,
  kindOf,
  MAIN,
  NO_SUCH_COMMIT,
  pathsAt,
  put,
  readText,
  sideBySide,
  textOf,
  type Case,
} from './world.ts'

const MIB = 1024 * 1024
const NOWHERE = branchName('nowhere')

export const OBJECT_CASES = {
  'LC-26 what was written is read back: bytes, type, metadata, on the branch and at the commit': async ({
    repo,
  }) => {
    const metadata = { 'made-by': 'Zoë – 測試', empty: '' }
    const outcome = await repo.write({
      branch: MAIN,
      path: 'data/file.bin',
      body: bytes('0123456789'),
      contentType: 'text/plain; charset=utf-8',
      metadata,
    })
    expect(outcome).toMatchObject({ written: true, object: { path: 'data/file.bin', sizeBytes: 10 } })
    const stat = await repo.stat(MAIN, 'data/file.bin')
    expect(stat).toMatchObject({ sizeBytes: 10, contentType: 'text/plain; charset=utf-8', metadata })
    // Where a listing tells the address of the bytes as well, it is no presigned one.
    const address = expect.not.stringContaining('?') as string
    const listed = await all(repo.list(MAIN))
    expect(listed.map((entry) => ({ address: 'none', ...entry }))).toEqual([
      { kind: 'object', ...stat, address },
    ])

    const { commit } = (await repo.commit({ branch: MAIN, message: 'one file' })) as {
      commit: { ref: typeof NO_SUCH_COMMIT }
    }
    expect(await repo.stat(commit.ref, 'data/file.bin')).toMatchObject({ checksum: stat?.checksum, metadata })
    expect(await readText(repo, commit.ref, 'data/file.bin')).toBe('0123456789')
    const opened = await repo.read(MAIN, 'data/file.bin')
    expect(opened).toMatchObject({ checksum: stat?.checksum, sizeBytes: 10 })
    expect(opened?.contentType).toBe('text/plain; charset=utf-8')
    expect(await textOf(opened)).toBe('0123456789')
  },

  'LC-27 equal bytes have equal checksums, other bytes others': async ({ repo }) => {
    await put(repo, MAIN, 'a', 'same')
    await put(repo, MAIN, 'b', 'same')
    await put(repo, MAIN, 'c', 'other')
    const checksum = async (path: string): Promise<string | undefined> =>
      (await repo.stat(MAIN, path))?.checksum
    expect(await checksum('a')).toBe(await checksum('b'))
    expect(await checksum('a')).not.toBe(await checksum('c'))
  },

  'LC-28 an empty object is an object': async ({ repo }) => {
    await put(repo, MAIN, 'empty', '')
    expect(await repo.stat(MAIN, 'empty')).toMatchObject({ sizeBytes: 0 })
    expect(await readText(repo, MAIN, 'empty')).toBe('')
    expect(await kindOf(repo.read(MAIN, 'empty', { range: { start: 0 } }))).toBe('invalid')
  },

  'LC-29 a range gives those bytes alone; one outside the object is refused': async ({ repo }) => {
    await put(repo, MAIN, 'ten', '0123456789')
    const range = async (start: number, end?: number): Promise<string> => {
      const opened = await repo.read(MAIN, 'ten', { range: end === undefined ? { start } : { start, end } })
      const text = await textOf(opened)
      expect(opened?.sizeBytes).toBe(text.length)
      return text
    }
    expect(await range(0, 0)).toBe('0')
    expect(await range(2, 4)).toBe('234')
    expect(await range(7)).toBe('789')
    expect(await range(8, 99)).toBe('89')
    expect(await failureOf(range(10))).toEqual({ kind: 'invalid', code: 'lakefs/bad-range' })
    expect(await failureOf(range(4, 3))).toEqual({ kind: 'invalid', code: 'lakefs/bad-range' })
  },

  'LC-30 any path is a key of its own, listed in byte order': async ({ repo }) => {
    const paths = [
      '/leading',
      'a',
      'a//b',
      'a/./b',
      'a/../b',
      'a b',
      'a+b',
      'a%2Fb',
      'a?b=c#d',
      'a&b',
      'dir/',
      'line\nbreak',
      'tab\t',
      'quote\'"',
      'back\\slash',
      'ünï/日本語',
      '\u00fc', // composed
      'u\u0308', // decomposed
      '\u{ffff}', // beyond the surrogates in UTF-16, before them in UTF-8
      '\u{1f4be}',
      'x'.repeat(1024),
    ]
    await sideBySide(paths.length, 4, (index) => put(repo, MAIN, paths[index]!, `content of ${index}`))
    expect(await pathsAt(repo, MAIN)).toEqual([...paths].sort(byteOrder))
    for (const [index, path] of paths.entries()) {
      expect(await readText(repo, MAIN, path)).toBe(`content of ${index}`)
    }
    await repo.deleteObjects(MAIN, paths)
    expect(await pathsAt(repo, MAIN)).toEqual([])
  },

  'LC-31 a path that no server could keep is refused before anything is sent': async ({ repo }) => {
    for (const path of ['', 'x'.repeat(1025), 'half a pair \ud83d']) {
      expect(await kindOf(repo.write({ branch: MAIN, path, body: bytes('x') }))).toBe('invalid')
      expect(await kindOf(repo.stat(MAIN, path))).toBe('invalid')
      expect(await kindOf(repo.deleteObjects(MAIN, [path]))).toBe('invalid')
    }
    const metadata = { 'two lines': 'a' }
    expect(await kindOf(repo.write({ branch: MAIN, path: 'x', body: bytes('x'), metadata }))).toBe('invalid')
    expect(await pathsAt(repo, MAIN)).toEqual([])
  },

  'LC-32 more entries than one page holds are all listed, and deleted in as many requests as it takes':
    async ({ repo }) => {
      const paths = Array.from({ length: 1203 }, (_, index) => `many/${String(index).padStart(5, '0')}`)
      await sideBySide(paths.length, 16, (index) => put(repo, MAIN, paths[index]!, 'x'))
      await put(repo, MAIN, 'other', 'x')
      expect(await pathsAt(repo, MAIN)).toEqual([...paths, 'other'])

      const some: string[] = []
      for await (const entry of repo.list(MAIN, { pageSize: 7 })) {
        some.push(entry.path)
        if (some.length === 10) break
      }
      expect(some).toEqual(paths.slice(0, 10))
      const after = await all(repo.list(MAIN, { prefix: 'many/', after: 'many/01199x', pageSize: 2 }))
      expect(after.map((entry) => entry.path)).toEqual(paths.slice(1200))

      await repo.deleteObjects(MAIN, [...paths, 'was/never/there'])
      expect(await pathsAt(repo, MAIN)).toEqual(['other'])
    },

  'LC-33 a delimiter folds what lies behind it into one entry': async ({ repo }) => {
    for (const path of ['a/1', 'a/2', 'b', 'c/1', 'c/d/1']) await put(repo, MAIN, path)
    const folded = await all(repo.list(MAIN, { delimiter: '/', pageSize: 1 }))
    expect(folded.map(({ kind, path }) => `${kind} ${path}`)).toEqual(['prefix a/', 'object b', 'prefix c/'])
    const inside = await all(repo.list(MAIN, { prefix: 'c/', delimiter: '/' }))
    expect(inside.map(({ kind, path }) => `${kind} ${path}`)).toEqual(['object c/1', 'prefix c/d/'])
  },

  'LC-34 what is not there is no object; a ref that is not there is an error': async ({ repo }) => {
    await put(repo, MAIN, 'dir/file', 'x')
    for (const path of ['nothing', 'dir', 'dir/']) {
      expect(await repo.stat(MAIN, path)).toBeUndefined()
      expect(await repo.read(MAIN, path)).toBeUndefined()
    }
    for (const at of [NOWHERE, NO_SUCH_COMMIT]) {
      expect(await kindOf(repo.stat(at, 'dir/file'))).toBe('missing')
      expect(await kindOf(repo.read(at, 'dir/file'))).toBe('missing')
      expect(await kindOf(all(repo.list(at)))).toBe('missing')
    }
    expect(await kindOf(repo.write({ branch: NOWHERE, path: 'x', body: bytes('x') }))).toBe('missing')
    expect(await kindOf(repo.deleteObjects(NOWHERE, ['dir/file']))).toBe('missing')
  },

  'LC-35 a commit does not show what was written after it': async ({ repo }) => {
    const { ref } = await commitOf(repo, MAIN, { a: '1' })
    await put(repo, MAIN, 'a', '2')
    await put(repo, MAIN, 'b', '2')
    expect(await readText(repo, ref, 'a')).toBe('1')
    expect(await pathsAt(repo, ref)).toEqual(['a'])
    expect(await readText(repo, MAIN, 'a')).toBe('2')
    await repo.deleteObjects(MAIN, ['a'])
    expect(await pathsAt(repo, MAIN)).toEqual(['b'])
    expect(await pathsAt(repo, ref)).toEqual(['a'])
  },

  'LC-36 of racing writers to a free path exactly one wins, and its bytes stay': async ({ repo }) => {
    const racers = Array.from({ length: 8 }, (_, index) => `writer ${index}`)
    const outcomes = await Promise.all(
      racers.map((content) =>
        repo.write({ branch: MAIN, path: 'lock', body: bytes(content), ifAbsent: true }),
      ),
    )
    const winners = outcomes.flatMap((outcome, index) => (outcome.written ? [racers[index]] : []))
    expect(winners).toHaveLength(1)
    expect(await readText(repo, MAIN, 'lock')).toBe(winners[0])
    const late = { branch: MAIN, path: 'lock', body: bytes('late'), ifAbsent: true }
    expect(await repo.write(late)).toEqual({ written: false, reason: 'exists' })
    await repo.deleteObjects(MAIN, ['lock'])
    expect(await repo.write(late)).toMatchObject({ written: true })
  },

  'LC-37 a body of 64 MiB streams both ways in little memory': async ({ repo }) => {
    const size = 64 * MIB
    const body = generatedBody(size)
    const before = heldBytes()
    let most = 0
    const watch = (): void => {
      most = Math.max(most, heldBytes() - before)
    }
    const outcome = await repo.write({ branch: MAIN, path: 'big', body: body.watched(watch) })
    expect(outcome).toMatchObject({ written: true, object: { sizeBytes: size } })

    const opened = await repo.read(MAIN, 'big')
    const hash = createHash('sha256')
    let arrived = 0
    for await (const piece of opened?.body ?? []) {
      hash.update(piece as Uint8Array)
      arrived += (piece as Uint8Array).byteLength
      if (arrived % (8 * MIB) < GENERATED_PIECE_BYTES) watch()
    }
    expect(arrived).toBe(size)
    expect(hash.digest('hex')).toBe(body.sha256())
    // Half of the body would be a sign that it is gathered somewhere.
    expect(most).toBeLessThan(size / 2)

    const tail = await repo.read(MAIN, 'big', { range: { start: size - 5 } })
    expect((await buffer(tail!.body)).byteLength).toBe(5)
  },

  'LC-38 a source that is shorter, longer or broken leaves nothing behind': async ({ repo }) => {
    const sources = {
      short: { sizeBytes: 11, open: () => Buffer.from('0123456789') },
      long: { sizeBytes: 9, open: () => Buffer.from('0123456789') },
      broken: { sizeBytes: 3 * MIB, open: () => generatedBody(3 * MIB).failingAt(2 * MIB) },
    }
    for (const [path, body] of Object.entries(sources)) {
      expect(await kindOf(repo.write({ branch: MAIN, path, body }))).toBe('invalid')
      expect(await repo.stat(MAIN, path)).toBeUndefined()
    }
    expect(await headOf(repo, MAIN)).toBeDefined()
  },
} as const satisfies Record<string, Case>
