import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startNameServer } from '../../../test/support/name-server.ts'
import { WEBHOOK_LOOKUPS_PER_TENANT } from '../limits.ts'
import { NameLookups, type NameLookupsOptions } from './name-lookups.ts'

interface Given extends NameLookupsOptions {
  readonly names?: Readonly<Record<string, readonly string[]>>
  readonly isSilent?: (question: string) => boolean
  readonly hosts?: string
  readonly resolver?: string
}

async function world({ names = {}, isSilent = () => false, hosts = '', resolver = '', ...options }: Given) {
  const directory = await mkdtemp(join(tmpdir(), 'perago-names-'))
  const files = { hosts: join(directory, 'hosts'), resolver: join(directory, 'resolv.conf') }
  await writeFile(files.hosts, hosts)
  await writeFile(files.resolver, resolver)
  const server = await startNameServer(names, { isSilent })
  onTestFinished(async () => {
    await server.close()
    await rm(directory, { recursive: true })
  })
  const lookups = new NameLookups({ nameServers: [server.address], files, ...options })
  const closing = new AbortController()
  const find = async (host: string, tenant?: string) =>
    (await lookups.find(host, { tenant, signal: closing.signal })).map(({ address }) => address)
  return { server, find, closing, lookups }
}

test('E-131 a name leads to its addresses of both families, and to those of one where only that is answered', async () => {
  const names = {
    'both.example': ['2606:4700::1111', '8.8.8.8', '8.8.4.4'],
    'six.example': ['2606:4700::1111'],
    'half.example': ['8.8.8.8', '2606:4700::1111'],
  }
  const { find } = await world({ names, isSilent: (question) => question === 'half.example 6' })
  await expect(find('both.example')).resolves.toEqual(['8.8.8.8', '8.8.4.4', '2606:4700::1111'])
  await expect(find('six.example')).resolves.toEqual(['2606:4700::1111'])
  await expect(find('half.example')).resolves.toEqual(['8.8.8.8'])
  await expect(find('none.example')).rejects.toThrow('none.example was not found by its name (ENOTFOUND)')
})

test('E-131 the hosts file comes first, localhost is this machine, and short names are sought in its domains', async () => {
  const { find, server } = await world({
    names: { 'hook.svc.local': ['10.0.0.7'], 'a.example': ['8.8.8.8'], 'a.b.svc.local': ['10.0.0.8'] },
    hosts:
      '# ours\n10.1.1.1 receiver Receiver.Internal # the receiver\n10.1.1.1\tother\n::9 receiver\nbroken receiver\n',
    resolver: 'nameserver 192.0.2.1\nsearch svc.local corp.local\noptions timeout:1 ndots:2\n',
  })
  await expect(find('receiver')).resolves.toEqual(['10.1.1.1', '::9'])
  await expect(find('receiver.internal.')).resolves.toEqual(['10.1.1.1'])
  await expect(find('localhost')).resolves.toEqual(['127.0.0.1', '::1'])
  await expect(find('a.localhost')).resolves.toEqual(['127.0.0.1', '::1'])
  expect(server.asked).toEqual([])
  await expect(find('hook')).resolves.toEqual(['10.0.0.7'])
  await expect(find('a.b')).resolves.toEqual(['10.0.0.8'])
  await expect(find('a.example')).resolves.toEqual(['8.8.8.8'])
  server.asked.length = 0
  await expect(find('hook.')).rejects.toThrow('ENOTFOUND')
  expect(new Set(server.asked)).toEqual(new Set(['hook 4', 'hook 6']))
})

test('E-130 a lookup that is not answered ends in its time, and in no time when nobody waits for it', async () => {
  const { find, server, closing } = await world({ isSilent: () => true, timeoutMs: 300 })
  await expect(find('silent.example')).rejects.toThrow(
    'silent.example was not found by its name within 300 ms',
  )
  const closed = Promise.allSettled([find('a.example'), find('b.example', 'acme')])
  await expect.poll(() => server.asked.some((question) => question.startsWith('b.example'))).toBe(true)
  closing.abort(new Error('closing'))
  expect((await closed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const asked = server.asked.length
  await new Promise((resolve) => setTimeout(resolve, 500))
  // Nothing is asked behind the back of whoever has left.
  expect(server.asked.length).toBe(asked)
})

test('E-132 one lookup runs for each name and tenant, and a tenant has only so many at a time', async () => {
  const { find, server, lookups } = await world({
    names: { 'well.example': ['8.8.8.8'] },
    isSilent: (question) => question.startsWith('s'),
    timeoutMs: 1_000,
  })
  const leaving = new AbortController()
  const left = lookups.find('s0.example', { tenant: 'a', signal: leaving.signal })
  const names = Array.from({ length: WEBHOOK_LOOKUPS_PER_TENANT }, (_, at) => `s${String(at)}.example`)
  const silent = Promise.allSettled([...names, ...names].map((name) => find(name, 'a')))
  await expect(find('well.example', 'a')).rejects.toThrow('50 names are being looked up')
  await expect(find('well.example', 'b')).resolves.toEqual(['8.8.8.8'])
  // Others still wait for the same name.
  leaving.abort()
  await expect(left).rejects.toThrow()
  expect((await silent).map(({ status }) => status)).not.toContain('fulfilled')
  const first = server.asked.filter((question) => question === 's0.example 4')
  expect(first.length).toBeLessThanOrEqual(3)
  await expect(find('well.example', 'a')).resolves.toEqual(['8.8.8.8'])
})
