// Goal: whatever a body did, what is handed over is what laying out the new commit would give; and after any touch at all
// between the two attempts it is not used.
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openHandOverWorld } from '../../../test/support/workspace/hand-over-world.ts'
import { md5Of } from '../../../test/support/workspace/memory-source.ts'
import { temporaryRoot } from '../../../test/support/workspace/temporary-root.ts'

const name = fc.constantFrom('a', 'b', 'é', 'z z')
const path = fc.oneof(
  name,
  fc.tuple(name, name).map(([above, below]) => `d-${above}/${below}`),
  fc.tuple(name, name, name).map(([top, above, below]) => `d-${top}/d-${above}/${below}`),
)
const text = fc.constantFrom('', 'x', 'y', 'longer')
const deed = fc.oneof(
  fc.record({ what: fc.constant('write' as const), path, text }),
  fc.record({ what: fc.constant('remove' as const), path }),
  fc.record({ what: fc.constant('chmod' as const), path, mode: fc.constantFrom(0o600, 0o755) }),
  fc.record({ what: fc.constant('mkdir' as const), path }),
)
type Deed = typeof deed extends fc.Arbitrary<infer Of> ? Of : never

/** Does it as far as it can be done. */
function doIt(tree: string, one: Deed): void {
  const target = join(tree, one.path)
  const kind = statSync(target, { throwIfNoEntry: false })
  switch (one.what) {
    case 'write':
      if (kind?.isDirectory() === true) return
      mkdirSync(dirname(target), { recursive: true })
      writeFileSync(target, one.text)
      break
    case 'remove':
      rmSync(target, { recursive: true, force: true })
      break
    case 'chmod':
      if (kind?.isFile() === true) chmodSync(target, one.mode)
      break
    case 'mkdir':
      if (kind === undefined) mkdirSync(target, { recursive: true })
      break
  }
}

function contentsOf(tree: string): Record<string, string> {
  const files = readdirSync(tree, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const found = files.map((entry) => join(entry.parentPath, entry.name))
  return Object.fromEntries(found.map((file) => [file.slice(tree.length + 1), readFileSync(file, 'utf8')]))
}

const start = fc.dictionary(path, text, { maxKeys: 8 })

test('WS-74 whatever a body did, the next attempt gets exactly the new commit', async () => {
  const root = await temporaryRoot()
  await fc.assert(
    fc.asyncProperty(start, fc.array(deed, { maxLength: 12 }), async (objects, deeds) => {
      const world = await openHandOverWorld(objects, {}, root)
      for (const one of deeds) doIt(world.workspace.dir, one)
      const wanted = contentsOf(world.workspace.dir)
      const taken = await world.take(await world.leave())
      if (!taken.isTaken) throw new Error(taken.why)
      const { dir, manifest } = taken.workspace
      expect(contentsOf(dir)).toEqual(wanted)
      const entries = [...manifest.entries()].map(({ path: at, checksum }) => [at, checksum])
      expect(Object.fromEntries(entries)).toEqual(
        Object.fromEntries(Object.entries(wanted).map(([at, content]) => [at, md5Of(content)])),
      )
      await taken.workspace.remove()
    }),
    { numRuns: 60 },
  )
})

test('WS-74 any touch between two attempts is noticed, however it is hidden', async () => {
  const root = await temporaryRoot()
  await fc.assert(
    fc.asyncProperty(
      start,
      fc.array(deed, { maxLength: 4 }),
      deed,
      fc.boolean(),
      async (objects, before, touch, hide) => {
        const world = await openHandOverWorld(objects, {}, root)
        for (const one of before) doIt(world.workspace.dir, one)
        const left = await world.leave()
        if (!left.isHandedOver) throw new Error(left.why)
        const { tree } = left.directory.aside
        const file = join(tree, touch.path)
        const known = statSync(file, { throwIfNoEntry: false })
        const looked = stateOf(tree)
        doIt(tree, touch)
        const times = statSync(file, { throwIfNoEntry: false })
        if (hide && known !== undefined && times?.isFile() === true)
          utimesSync(file, known.atime, known.mtime)
        const isTouched = touch.what === 'write' ? times?.isFile() === true : stateOf(tree) !== looked
        const taken = await world.take(left)
        // A chmod to what it is already leaves a newer ctime: refused, which is no harm.
        if (isTouched) expect(taken.isTaken).toBe(false)
        if (taken.isTaken) await taken.workspace.remove()
      },
    ),
    { numRuns: 60 },
  )
})

/** Names and permissions; what a touch that did nothing leaves as it was. */
function stateOf(tree: string): string {
  const entries = readdirSync(tree, { recursive: true, encoding: 'utf8' }).sort()
  return JSON.stringify(entries.map((entry) => [entry, statSync(join(tree, entry)).mode]))
}
