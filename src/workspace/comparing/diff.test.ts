import { execFileSync } from 'node:child_process'
import { lstatSync, rmSync } from 'node:fs'
import {
  chmod,
  cp,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  unlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { actAsNobody } from '../../../test/support/act-as-nobody.ts'
import { contentOf } from '../../../test/support/workspace/content-of.ts'
import { memorySource, type StoredObject } from '../../../test/support/workspace/memory-source.ts'
import { mounted } from '../../../test/support/workspace/mounted.ts'
import { openMappedWriter, whyNoMappedWriter } from '../../../test/support/workspace/mapped-writer.ts'
import { ATTEMPT, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { WORKSPACE_SMALL_FILE_MAX_BYTES } from '../limits.ts'
import { contentTypeOf } from './content-type.ts'
import { diffWorkspace, type ChangeSet } from './diff.ts'
import { readFileFacts, suspect } from './file-facts.ts'
import { layOut, type AttemptWorkspace } from '../laying-out/lay-out.ts'
import type { WorkspaceSpec } from '../../tasks/workspace-spec.ts'

const isRoot = process.getuid?.() === 0

async function laidOut(
  objects: Readonly<Record<string, string | StoredObject>>,
  spec: WorkspaceSpec = {},
): Promise<AttemptWorkspace> {
  return layOut({ root: await temporaryRoot(), attempt: ATTEMPT, source: memorySource(objects), spec })
}

function keysOf({ uploads, deletes }: ChangeSet): { uploads: readonly string[]; deletes: readonly string[] } {
  return { uploads: uploads.map(({ key }) => key), deletes }
}

function withCode(code: string): Error {
  return expect.objectContaining({ code }) as Error
}

describe('where the times of files do not show every edit', () => {
  const objects = {
    'a/kept': 'aaaa',
    'a/edited': 'aaaa',
    'b/multipart': { content: 'bbbb', checksum: 'x-2' },
    // On some stores it looks like an MD5 and is none.
    'b/encrypted': { content: 'cccc', checksum: '0123456789abcdef0123456789abcdef' },
  }

  test('WS-200 an edit through a mapping that leaves size and times as they were is published', async (context) => {
    context.skip(whyNoMappedWriter() !== undefined, whyNoMappedWriter())
    const root = await temporaryRoot(await mounted('tmpfs', context))
    const workspace = await layOut({ root, attempt: ATTEMPT, source: memorySource(objects), spec: {} })
    const writer = await openMappedWriter()
    for (const [name, byte] of [
      ['a/edited', 'x'],
      ['b/multipart', 'y'],
      ['b/encrypted', 'z'],
    ] as const) {
      await writer.map(join(workspace.dir, name))
      await writer.write(byte)
      await writer.unmap()
    }
    for (let index = 0; index < workspace.manifest.count; index++)
      expect(readFileFacts(join(workspace.dir, workspace.manifest.path(index)))).toEqual(
        workspace.manifest.facts(index),
      )
    const changes = await diffWorkspace(workspace)
    expect(keysOf(changes)).toEqual({ uploads: ['a/edited', 'b/encrypted', 'b/multipart'], deletes: [] })
    expect((await Promise.all(changes.uploads.map(contentOf))).map(String)).toEqual(['xaaa', 'zccc', 'ybbb'])
  })

  test('WS-201 each file is read, and none is changed if its bytes are not, whatever its checksum says', async (context) => {
    const root = await temporaryRoot(await mounted('tmpfs', context))
    const workspace = await layOut({ root, attempt: ATTEMPT, source: memorySource(objects), spec: {} })
    const changes = await diffWorkspace(workspace)
    expect(changes).toMatchObject({ uploads: [], deletes: [], unchangedCount: 4, hashedCount: 4 })
  })
})

describe('what changed', () => {
  test('WS-20 an untouched workspace has no changes, and no file of it is read', async () => {
    const changes = await diffWorkspace(await laidOut({ 'a/b': '1', c: '' }))
    expect(changes).toMatchObject({ uploads: [], deletes: [], unchangedCount: 2, hashedCount: 0 })
  })

  test('WS-20 changed, added and deleted files are told, and nothing else', async () => {
    const workspace = await laidOut(
      { 'd/same': '1', 'd/changed': '2', 'd/longer': '3', 'd/gone': '4' },
      { prefix: 'd' },
    )
    await writeFile(join(workspace.dir, 'changed'), 'x')
    await writeFile(join(workspace.dir, 'longer'), '33')
    await unlink(join(workspace.dir, 'gone'))
    await mkdir(join(workspace.dir, 'new'))
    await writeFile(join(workspace.dir, 'new', 'file'), 'n')
    const changes = await diffWorkspace(workspace)
    expect(keysOf(changes)).toEqual({
      uploads: ['d/changed', 'd/longer', 'd/new/file'],
      deletes: ['d/gone'],
    })
    expect(changes).toMatchObject({ unchangedCount: 1, uploadBytes: 4, hashedCount: 1 })
    expect((await Promise.all(changes.uploads.map(contentOf))).map(String)).toEqual(['x', '33', 'n'])
  })

  test('WS-20 a file that became a directory, and the other way round', async () => {
    const workspace = await laidOut({ p: '1', 'q/r': '2' })
    await unlink(join(workspace.dir, 'p'))
    await mkdir(join(workspace.dir, 'p'))
    await writeFile(join(workspace.dir, 'p', 'q'), '3')
    await rm(join(workspace.dir, 'q'), { recursive: true })
    await writeFile(join(workspace.dir, 'q'), '4')
    expect(keysOf(await diffWorkspace(workspace))).toEqual({ uploads: ['p/q', 'q'], deletes: ['p', 'q/r'] })
  })

  test('WS-21 an edit of equal size is found although its mtime was set back', async () => {
    const workspace = await laidOut({ a: 'before' })
    const path = join(workspace.dir, 'a')
    const before = lstatSync(path, { bigint: true })
    const reference = join(workspace.scratch, 'reference')
    await writeFile(reference, '')
    execFileSync('touch', ['-r', path, reference])
    await writeFile(path, 'after!')
    // To the nanosecond, which the times of JavaScript cannot.
    execFileSync('touch', ['-r', reference, path])
    expect(lstatSync(path, { bigint: true }).mtimeNs).toBe(before.mtimeNs)
    expect(keysOf(await diffWorkspace(workspace)).uploads).toEqual(['a'])
  })

  test('WS-21 an edit of equal size right after the layout is found, again and again', async () => {
    for (let round = 0; round < 20; round++) {
      const workspace = await laidOut({ a: 'before', b: 'before' })
      await writeFile(join(workspace.dir, 'a'), 'after!')
      expect(keysOf(await diffWorkspace(workspace)).uploads).toEqual(['a'])
      await workspace.remove()
    }
  })

  test('WS-21 where the clock of the file system is too coarse to tell, the content is read', async () => {
    const workspace = await laidOut({ a: 'before', b: 'before' })
    const manifest = workspace.manifest
    await writeFile(join(workspace.dir, 'a'), 'after!')
    // As if the edit had left every fact as it was, and the layout had ended within the same step of the clock.
    for (const path of ['a', 'b'])
      manifest.recordFacts(manifest.find(path), readFileFacts(join(workspace.dir, path))!)
    const { ctimeNs } = lstatSync(join(workspace.dir, 'a'), { bigint: true })
    manifest.layOutEndNs = ctimeNs + 1n
    expect(keysOf(await diffWorkspace(workspace)).uploads).toEqual([])
    manifest.layOutEndNs = ctimeNs
    const changes = await diffWorkspace(workspace)
    expect(keysOf(changes).uploads).toEqual(['a'])
    expect(changes.unchangedCount).toBe(1)
  })

  test('WS-21 every fact that differs, and every time that is too young, leads to a look inside', () => {
    const facts = { sizeBytes: 5, mtimeNs: 10n, ctimeNs: 10n, inode: 1n }
    const judge = (found: Partial<typeof facts>, layOutEndNs = 11n): string =>
      suspect({ laidOut: facts, found: { ...facts, ...found }, layOutEndNs })
    expect(judge({})).toBe('same')
    expect(judge({ sizeBytes: 6 })).toBe('changed')
    expect(judge({ mtimeNs: 9n })).toBe('look-inside')
    expect(judge({ ctimeNs: 12n })).toBe('look-inside')
    // As after somebody set the clock back.
    expect(judge({ ctimeNs: 9n })).toBe('look-inside')
    expect(judge({ inode: 2n })).toBe('look-inside')
    expect(judge({}, 10n)).toBe('look-inside')
  })

  test('WS-22 touched, copied and replaced files with the same content are unchanged', async () => {
    const workspace = await laidOut({ touched: '1', replaced: '2', mode: '3', copied: '4' })
    const at = (name: string): string => join(workspace.dir, name)
    await utimes(at('touched'), new Date(), new Date())
    await writeFile(at('new'), '2')
    await rename(at('new'), at('replaced'))
    await chmod(at('mode'), 0o755)
    await cp(at('copied'), at('copy'))
    await rename(at('copy'), at('copied'))
    const changes = await diffWorkspace(workspace)
    expect(changes).toMatchObject({ uploads: [], deletes: [], unchangedCount: 4, hashedCount: 4 })
  })

  test('WS-22 where the checksum is no MD5, a hash taken while laying out tells', async () => {
    const checksum = '0123456789abcdef0123456789abcdef-2'
    const workspace = await laidOut({ a: { content: 'one', checksum }, b: { content: 'two', checksum } })
    expect(workspace.manifest.entry(0).checksum).toBe(checksum)
    await utimes(join(workspace.dir, 'a'), new Date(), new Date())
    await writeFile(join(workspace.dir, 'b'), 'TWO')
    expect(keysOf(await diffWorkspace(workspace)).uploads).toEqual(['b'])
  })

  test('WS-23 a changed file keeps its content type and user metadata; a new one has the type of its ending', async () => {
    const kept = { contentType: 'text/x-special', metadata: { owner: 'me', note: 'ü' } }
    const workspace = await laidOut({
      'a.csv': { content: '1', ...kept },
      'b.csv': { content: '2', ...kept },
    })
    await writeFile(join(workspace.dir, 'a.csv'), '11')
    await rm(join(workspace.dir, 'b.csv'))
    await writeFile(join(workspace.dir, 'b.csv'), '22')
    await writeFile(join(workspace.dir, 'c.csv'), '3')
    await writeFile(join(workspace.dir, 'd'), '4')
    expect((await diffWorkspace(workspace)).uploads).toMatchObject([
      { key: 'a.csv', ...kept, isNew: false },
      { key: 'b.csv', ...kept, isNew: false },
      { key: 'c.csv', contentType: 'text/csv', metadata: {}, isNew: true },
      { key: 'd', contentType: 'application/octet-stream', metadata: {}, isNew: true },
    ])
  })

  test.each([
    ['x.parquet', 'application/vnd.apache.parquet'],
    ['X.JSON', 'application/json'],
    ['a.tar.gz', 'application/gzip'],
    ['d.csv/none', 'application/octet-stream'],
    ['.csv', 'application/octet-stream'],
    ['end.', 'application/octet-stream'],
  ])('WS-23 the ending of %s means %s', (path, contentType) => {
    expect(contentTypeOf(path)).toBe(contentType)
  })

  test('WS-24 empty directories are nothing that could be published', async () => {
    const workspace = await laidOut({ 'a/b': '1' })
    await mkdir(join(workspace.dir, 'empty', 'too'), { recursive: true })
    expect(keysOf(await diffWorkspace(workspace))).toEqual({ uploads: [], deletes: [] })
  })
})

describe('the view', () => {
  test('WS-25 what the globs leave out is neither changed nor deleted, and new files there are named', async () => {
    const workspace = await laidOut({ 'raw/1': '1', 'b.csv': '2' }, { exclude: ['raw/**', '**/*.tmp'] })
    expect(await readdir(workspace.dir)).toEqual(['b.csv'])
    await mkdir(join(workspace.dir, 'raw'))
    await writeFile(join(workspace.dir, 'raw', '1'), 'changed')
    await writeFile(join(workspace.dir, 'x.tmp'), 'scratch')
    await writeFile(join(workspace.dir, 'c.csv'), '3')
    const changes = await diffWorkspace(workspace)
    expect(keysOf(changes)).toEqual({ uploads: ['c.csv'], deletes: [] })
    expect(changes.leftOut.count).toBe(2)
    expect(changes.leftOut.named.map(({ path }) => path).sort()).toEqual(['raw/1', 'x.tmp'])
  })

  test('WS-25 a new file may not take the name of a directory that is out of sight, nor stand below a file that is', async () => {
    const workspace = await laidOut(
      { 'd/raw/1': '1', 'd/p': '2' },
      { prefix: 'd', include: ['raw', 'p/*', 'ok'] },
    )
    await writeFile(join(workspace.dir, 'raw'), 'a file')
    await mkdir(join(workspace.dir, 'p'))
    await writeFile(join(workspace.dir, 'p', 'q'), 'below')
    await writeFile(join(workspace.dir, 'ok'), 'fine')
    const failure = diffWorkspace(workspace)
    await expect(failure).rejects.toThrow(withCode('workspace/unpublishable'))
    await expect(failure).rejects.toMatchObject({ details: { count: 2 } })
    await expect(failure).rejects.toThrow(/"d\/raw" would be a file beside "d\/raw\/1"/)
    await expect(failure).rejects.toThrow(/"d\/p\/q" would be below "d\/p"/)
  })
})

describe('what cannot be published', () => {
  test('WS-26 links, sockets and pipes are refused with their paths, all at once, wherever they lead', async () => {
    const workspace = await laidOut({ 'a/b': '1' })
    const at = (name: string): string => join(workspace.dir, name)
    await symlink('a/b', at('inside'))
    await symlink('/etc/passwd', at('outside'))
    await symlink('nowhere', at('a/dangling'))
    await symlink('/', at('a/directory'))
    execFileSync('mkfifo', [at('pipe')])
    // The path of a socket is short, so it is made from within.
    const server = createServer()
    const before = process.cwd()
    process.chdir(workspace.dir)
    await new Promise<void>((resolve) => server.listen('socket', resolve)).finally(() =>
      process.chdir(before),
    )
    const failure = diffWorkspace(workspace)
    await expect(failure).rejects.toThrow(withCode('workspace/unpublishable'))
    const error = (await failure.catch((thrown: unknown) => thrown)) as {
      details: { files: readonly { path: string; reason: string }[] }
    }
    expect(Object.fromEntries(error.details.files.map(({ path, reason }) => [path, reason]))).toEqual({
      inside: 'is a symbolic link',
      outside: 'is a symbolic link',
      'a/dangling': 'is a symbolic link',
      'a/directory': 'is a symbolic link',
      pipe: 'is a named pipe',
      socket: 'is a socket',
    })
    await new Promise((resolve) => server.close(resolve))
  })

  test('WS-26 a device is refused', async ({ skip }) => {
    skip(!isRoot, 'only the superuser can make a device')
    const workspace = await laidOut({ a: '1' })
    execFileSync('mknod', [join(workspace.dir, 'null'), 'c', '1', '3'])
    await expect(diffWorkspace(workspace)).rejects.toThrow(/"null" is a character device/)
  })

  test('WS-26 a name that is not UTF-8, and a key that is too long, are refused', async () => {
    const workspace = await laidOut({ a: '1' })
    const badName = Buffer.concat([Buffer.from(`${workspace.dir}/bad-`), Buffer.from([0xff])])
    await writeFile(badName, 'x')
    const long = `${'d'.repeat(250)}/`.repeat(4) + 'e'.repeat(21)
    await mkdir(join(workspace.dir, long, '..'), { recursive: true })
    await writeFile(join(workspace.dir, long), 'x')
    const failure = diffWorkspace(workspace)
    await expect(failure).rejects.toThrow(/has a name that is not UTF-8/)
    await expect(failure).rejects.toThrow(/has a key longer than 1024 bytes/)
    await expect(failure).rejects.toMatchObject({ details: { count: 2 } })
  })
})

describe('what changes under the eyes', () => {
  test.each([
    ['is edited', (path: string) => writeFile(path, 'other')],
    ['gets longer', (path: string) => writeFile(path, 'longer than before')],
    ['is replaced', (path: string) => writeFile(`${path}-2`, 'after').then(() => rename(`${path}-2`, path))],
    ['is removed', (path: string) => unlink(path)],
    ['becomes a link', (path: string) => rename(path, `${path}-2`).then(() => symlink(`${path}-2`, path))],
    ['becomes a pipe', (path: string) => unlink(path).then(() => execFileSync('mkfifo', [path]))],
  ])('WS-27 a file that %s between the comparison and the upload is noticed', async (_what, change) => {
    // A small one is read at once, another one streamed.
    for (const more of ['', 'x'.repeat(WORKSPACE_SMALL_FILE_MAX_BYTES)]) {
      const workspace = await laidOut({ a: `before${more}` })
      await writeFile(join(workspace.dir, 'a'), `after${more}`)
      const { uploads } = await diffWorkspace(workspace)
      await change(join(workspace.dir, 'a'))
      await expect(contentOf(uploads[0]!)).rejects.toThrow(withCode('workspace/still-changing'))
    }
  })

  test('WS-27 a file that is edited while it is uploaded never arrives whole', async () => {
    const workspace = await laidOut({})
    const path = join(workspace.dir, 'a')
    const size = 5_000_000
    await writeFile(path, Buffer.alloc(size, 'a'))
    const { uploads } = await diffWorkspace(workspace)
    let received = 0
    const reading = (async () => {
      for await (const chunk of uploads[0]!.open()) {
        if (received === 0) {
          const file = await open(path, 'r+')
          await file.write('b', size - 1)
          await file.close()
        }
        received += (chunk as Buffer).length
      }
    })()
    await expect(reading).rejects.toThrow(withCode('workspace/still-changing'))
    expect(received).toBeLessThan(size)
  })

  test('WS-28 a directory that was swept away, or given to another, is never taken for one with everything deleted', async () => {
    const swept = await laidOut({ a: '1' })
    await rm(join(swept.dir, '..'), { recursive: true })
    await expect(diffWorkspace(swept)).rejects.toThrow(withCode('workspace/directory-gone'))
    await mkdir(swept.dir, { recursive: true })
    await expect(diffWorkspace(swept)).rejects.toThrow(withCode('workspace/directory-gone'))

    const other = await laidOut({ a: '1' })
    const marker = join(other.dir, '..', 'attempt.json')
    await writeFile(
      marker,
      (await readFile(marker, 'utf8')).replace(other.owned.marker.token, 'f'.repeat(32)),
    )
    await expect(diffWorkspace(other)).rejects.toThrow(withCode('workspace/directory-gone'))
  })

  test.each(['all of it', 'file by file'])(
    'WS-28 a directory that is swept away, %s, while it is compared is not taken for one either',
    async (how) => {
      const workspace = await laidOut({ a: '1', b: '2' })
      const directory = join(workspace.dir, '..')
      let looks = 0
      const assertOwned = (): void => {
        workspace.assertOwned()
        if (looks++ > 0) return
        if (how === 'all of it') rmSync(directory, { recursive: true })
        else for (const path of ['attempt.json', 'tree/a', 'tree/b']) rmSync(join(directory, path))
      }
      const failure = diffWorkspace({ ...workspace, assertOwned })
      await expect(failure).rejects.toThrow(withCode('workspace/directory-gone'))
    },
  )

  test('WS-28 a body may empty its directory, or put another one in its place', async () => {
    const workspace = await laidOut({ a: '1', b: '2' })
    await rm(workspace.dir, { recursive: true })
    await mkdir(workspace.dir)
    await writeFile(join(workspace.dir, 'b'), '2')
    expect(keysOf(await diffWorkspace(workspace))).toEqual({ uploads: [], deletes: ['a'] })
  })

  test('WS-28 an abort ends the comparison', async () => {
    const workspace = await laidOut({ a: '1' })
    const signal = AbortSignal.abort(new Error('lease lost'))
    await expect(diffWorkspace(workspace, { signal })).rejects.toThrow('lease lost')
  })
})

test('WS-26 what may not be read is refused with its path', async () => {
  const workspace = await laidOut({ 'a/b': '1' })
  const locked = join(workspace.dir, 'a')
  await chmod(locked, 0o000)
  onTestFinished(() => chmod(locked, 0o700).catch(() => undefined))
  actAsNobody(workspace.dir)
  await expect(diffWorkspace(workspace)).rejects.toThrow(/"a\/" cannot be listed/)
})
