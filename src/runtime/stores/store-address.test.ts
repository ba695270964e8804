import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openArchiveAt, openStoreAt, passwordsIn } from './store-address.ts'

function openPlace(environment: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'perago-address-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return { directory, environment }
}

test.each(['store.db', 'sqlite:store.db', 'sqlite://store.db', 'env:WHERE'])(
  'DO-41 %s is a SQLite file seen from the working directory',
  async (address) => {
    const place = openPlace({ WHERE: 'store.db' })
    const first = await openStoreAt('store.db', place)
    await first.commit({ operations: [{ do: 'put', key: 'a', value: Buffer.from('1') }] })
    await first.close()
    const store = await openStoreAt(address, place)
    onTestFinished(() => store.close())
    expect([store.name, (await store.get('a'))?.key]).toEqual(['sqlite', 'a'])
  },
)

test('DO-41 memory: is a store of its own each time', async () => {
  const place = openPlace()
  for (const address of ['memory:', 'memory://']) {
    const store = await openStoreAt(address, place)
    expect(store.name).toBe('memory')
    await store.close()
  }
})

test.each([
  ['mysql://db/x', 'there is no kind of store "mysql"'],
  ['env:NONE', 'the variable NONE holds no address'],
  ['env:OTHER', 'the variable OTHER holds no address'],
  ['etcd://host:2379/path', 'names its members'],
  ['etcd://', 'names its members'],
  ['etcd://host:1?ca=ca.pem', 'certificates are for etcds://'],
  ['redis://host:1?ca=ca.pem', 'certificates are for rediss://'],
  ['rediss://host:1?ca=none.pem', 'none.pem: there is no such file'],
  ['etcds://host:1?cert=ca.pem', 'cert and key belong together'],
])('DO-41 %s is refused with the reason', async (address, reason) => {
  const place = openPlace({ OTHER: 'env:MORE' })
  writeFileSync(join(place.directory, 'ca.pem'), 'no matter')
  await expect(openStoreAt(address, place)).rejects.toMatchObject({
    code: 'runtime/bad-store-address',
    message: expect.stringContaining(reason) as string,
  })
})

test('DO-41 an archive is a file or PostgreSQL, and nothing else', async () => {
  const place = openPlace()
  const archive = await openArchiveAt('sqlite:events.db', place)
  expect(await archive.count({ tenant: '', execution: 'exec_1' })).toBe(0)
  await archive.close()
  for (const address of ['redis://host:1', 'memory:', 'etcd://host:1']) {
    await expect(openArchiveAt(address, place)).rejects.toMatchObject({ code: 'runtime/bad-store-address' })
  }
})

test.each([
  ['postgresql://me:geheim%21@db/x', ['geheim%21', 'geheim!']],
  ['redis://:p@host', ['p', 'p']],
  ['redis://host:6379', []],
  ['postgresql://me@db:5432/x?a=b:c@d', []],
  ['store.db', []],
])('DO-41 what of %s must not be shown is known', (address, passwords) => {
  expect(passwordsIn(address)).toEqual(passwords)
})
