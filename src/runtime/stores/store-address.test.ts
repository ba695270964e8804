import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
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

test.each([
  'redis:/me:geheim@host/0',
  'postgres:/me:geheim@host/0',
  'postgresql:me:geheim@host/x',
  'Postgresql://me:geheim@host/x',
  'sqlite:postgres://me:geheim@host/x',
  ' postgresql://me:geheim@host/x',
  'me:geheim@host/x',
  'sqlite:',
  'mysql:x.db',
])('DO-77 %j is taken neither for a file of a store nor of an archive', async (address) => {
  const place = openPlace()
  for (const open of [openStoreAt, openArchiveAt]) {
    const refused = open(address, place)
    await expect(refused).rejects.toMatchObject({ code: 'runtime/bad-store-address', kind: 'invalid' })
    await expect(refused).rejects.not.toThrow('geheim')
  }
  expect(readdirSync(place.directory)).toEqual([])
})

test.each(['a:b/x.db', 'data/@x.db', 'C:\\x.db', './redis:x.db', 'sqlite:./a b.db'])(
  'DO-77 %j is a file',
  async (address) => {
    const place = openPlace()
    mkdirSync(join(place.directory, 'a:b'))
    mkdirSync(join(place.directory, 'data'))
    const store = await openStoreAt(address, place)
    await store.close()
    expect(readdirSync(place.directory, { recursive: true }).join()).toContain('.db')
  },
)

test.each([
  'postgresql://me:geheim@[host/x',
  'postgresql://me:geheim@127.0.0.1:99999/x',
  'redis://me:geheim@host:99999',
  'redis://me:geheim@host:6379x',
  'redis://me:geheim%zz@127.0.0.1:1',
  'etcd://me:geheim@host:99999',
  'etcd://me:geheim@host:notaport',
  'etcd://one:2379,two:x',
])('DO-77 %s is refused as an address that cannot be read', async (address) => {
  const refused = openStoreAt(address, openPlace())
  await expect(refused).rejects.toMatchObject({ code: 'runtime/bad-store-address', kind: 'invalid' })
  await expect(refused).rejects.not.toThrow('geheim')
})
