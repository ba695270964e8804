// Goal: what is published is exactly what the body left behind, and nothing is published twice.
// Method: random objects are laid out in a real directory, random edits are made in it, and the changes are applied to
// the old objects. What comes out must be the new directory. Every edit tries to look like none.
import fc from 'fast-check'
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { contentOf } from '../../../test/support/workspace/content-of.ts'
import { memorySource, type StoredObject } from '../../../test/support/workspace/memory-source.ts'
import { ATTEMPT, temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'
import { diffWorkspace } from './diff.ts'
import { layOut } from '../laying-out/lay-out.ts'

const name = fc.constantFrom('a', 'b', 'c.csv', '.h', '\u00e9', 'e\u0301', 'x y', 'A', '\u{1F600}', 'a\\b')
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
// Few contents of one length, so that edits often keep the size, and sometimes the content.
const content = fc.constantFrom('', 'one', 'two', 'six', 'longer')
const checksum = fc.constantFrom(undefined, 'not-an-md5-1', 'not-an-md5-2')

const objects = fc
  .dictionary(path, fc.record({ content, checksum }), { maxKeys: 12 })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([key]) => !isBelowAnother(key, all))))

type Edit =
  | { readonly kind: 'write' | 'write-same-mtime'; readonly path: string; readonly content: string }
  | {
      readonly kind: 'delete' | 'delete-directory' | 'touch' | 'rewrite-same' | 'chmod'
      readonly path: string
    }
  | { readonly kind: 'rename' | 'copy'; readonly path: string; readonly to: string }

const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.record({ kind: fc.constantFrom('write', 'write-same-mtime'), path, content }),
  fc.record({
    kind: fc.constantFrom('delete', 'delete-directory', 'touch', 'rewrite-same', 'chmod'),
    path,
  }),
  fc.record({ kind: fc.constantFrom('rename', 'copy'), path, to: path }),
)

test('WS-31 the changes, applied to the input, give what the body left behind; what is equal is not among them', async () => {
  const root = await temporaryRoot()
  await fc.assert(
    fc.asyncProperty(objects, fc.array(edit, { maxLength: 15 }), async (input, edits) => {
      const stored: Record<string, StoredObject> = {}
      for (const [key, { content, checksum }] of Object.entries(input)) {
        stored[`in/${key}`] = checksum === undefined ? { content } : { content, checksum }
      }
      const source = memorySource({ ...stored, other: 'outside' })
      const workspace = await layOut({ root, attempt: ATTEMPT, source, spec: { prefix: 'in' } })
      try {
        for (const each of edits) applyEdit(workspace.dir, each)
        const expected = readTree(workspace.dir)
        const changes = await diffWorkspace(workspace)

        const before = new Map(Object.entries(stored).map(([key, value]) => [key, value.content]))
        const after = new Map(before)
        for (const key of changes.deletes) expect(after.delete(key)).toBe(true)
        for (const upload of changes.uploads) {
          const uploaded = (await contentOf(upload)).toString()
          expect(uploaded).not.toBe(before.get(upload.key))
          after.set(upload.key, uploaded)
        }
        expect(after).toEqual(new Map([...expected].map(([key, value]) => [`in/${key}`, value])))
        expect(changes.unchangedCount + changes.uploads.filter(({ isNew }) => !isNew).length).toBe(
          before.size - changes.deletes.length,
        )
      } finally {
        await workspace.remove()
      }
    }),
    { numRuns: 150 },
  )
})

function isBelowAnother(key: string, all: Readonly<Record<string, unknown>>): boolean {
  return key.split('/').some((_, index, names) => index > 0 && names.slice(0, index).join('/') in all)
}

function applyEdit(directory: string, each: Edit): void {
  const at = join(directory, each.path)
  switch (each.kind) {
    case 'write':
      if (makeRoomFor(directory, each.path)) writeFileSync(at, each.content)
      break
    case 'write-same-mtime':
      if (isFile(at)) {
        const { atime, mtime } = statSync(at)
        writeFileSync(at, each.content)
        utimesSync(at, atime, mtime)
      }
      break
    case 'delete':
      if (isFile(at)) rmSync(at)
      break
    case 'delete-directory':
      if (isDirectory(at)) rmSync(at, { recursive: true })
      break
    case 'touch':
      if (isFile(at)) utimesSync(at, new Date(), new Date())
      break
    case 'rewrite-same':
      if (isFile(at)) writeFileSync(at, readFileSync(at))
      break
    case 'chmod':
      if (isFile(at)) chmodSync(at, 0o700)
      break
    case 'rename':
      if (isFile(at) && makeRoomFor(directory, each.to)) renameSync(at, join(directory, each.to))
      break
    case 'copy':
      if (isFile(at) && each.path !== each.to && makeRoomFor(directory, each.to)) {
        copyFileSync(at, join(directory, each.to))
      }
      break
  }
}

/** False where a file stands in the way of a directory, or a directory has the name. */
function makeRoomFor(directory: string, to: string): boolean {
  const parents = dirname(to)
    .split('/')
    .map((_, index, names) => join(directory, ...names.slice(0, index + 1)))
  if (parents.some(isFile) || isDirectory(join(directory, to))) return false
  mkdirSync(join(directory, dirname(to)), { recursive: true })
  return true
}

function isFile(at: string): boolean {
  return lookAt(at)?.isFile() === true
}

function isDirectory(at: string): boolean {
  return lookAt(at)?.isDirectory() === true
}

function lookAt(at: string): ReturnType<typeof lstatSync> | undefined {
  try {
    return lstatSync(at)
  } catch {
    // Nothing there, or a file on the way to it.
    return undefined
  }
}

function readTree(directory: string, below = ''): Map<string, string> {
  const files = new Map<string, string>()
  for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) for (const [key, value] of readTree(directory, path)) files.set(key, value)
    else files.set(path, readFileSync(join(directory, path), 'utf8'))
  }
  return files
}
