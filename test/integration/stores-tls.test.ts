// Goal: a store is reached over TLS only with the certificates that its address names.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../src/core/ports.ts'
import { openArchiveAt, openStoreAt } from '../../src/runtime/stores/store-address.ts'
import type { KillableKind } from '../support/servers/killable.ts'
import { openTlsServer, type TlsServer } from '../support/servers/tls-servers.ts'

interface Wanted {
  readonly host?: string
  readonly isPlain?: boolean
  readonly trusts?: boolean
  readonly hasOwn?: boolean
}

type AddressOf = (server: TlsServer, wanted?: Wanted) => string

function addressOf(
  login: readonly [plain: string, secure: string, path: string],
  names: readonly [ca: string, cert: string, key: string],
): AddressOf {
  const [plain, secure, path] = login
  const [ca, cert, key] = names
  return (server, { host = '127.0.0.1', isPlain = false, trusts = true, hasOwn = true } = {}) => {
    const parameters = [
      ...(trusts ? [`${ca}=${server.certificate}`] : []),
      ...(hasOwn ? [`${cert}=${server.certificate}`, `${key}=${server.key}`] : []),
    ]
    const address = `${isPlain ? plain : secure}${host}:${String(server.port)}${path}`
    return isPlain ? address : `${address}${path.includes('?') ? '&' : '?'}${parameters.join('&')}`
  }
}

const ours = ['ca', 'cert', 'key'] as const
const postgres = 'postgresql://postgres:perago@'
const ADDRESSES: Readonly<Record<KillableKind, AddressOf>> = {
  postgres: addressOf(
    [postgres, postgres, '/postgres?sslmode=verify-full'],
    ['sslrootcert', 'sslcert', 'sslkey'],
  ),
  redis: addressOf(['redis://:perago@', 'rediss://:perago@', ''], ours),
  etcd: addressOf(['etcd://', 'etcds://', ''], ours),
}

function openAt(address: string): Promise<Store> {
  return openStoreAt(address, { environment: {}, directory: '/' })
}

describe.each(['postgres', 'redis', 'etcd'] as const)('TLS to %s', (kind) => {
  test('ST-100 the store is reached with certificates, and refused without the right ones', async (context) => {
    const address = ADDRESSES[kind]
    const server = await openTlsServer(kind, context, async (starting) => {
      await (await openAt(address(starting))).close()
    })
    const store = await openAt(address(server))
    onTestFinished(() => store.close())
    await store.commit({ operations: [{ do: 'put', key: 'a', value: Buffer.from('1') }] })
    expect(Buffer.from((await store.get('a'))?.value ?? []).toString()).toBe('1')
    // It is signed by an unknown authority, or for another name.
    for (const wanted of [{ trusts: false }, { host: '127.0.0.2' }]) {
      await expect(openAt(address(server, wanted)), JSON.stringify(wanted)).rejects.toMatchObject({
        code: 'stores/unreachable',
        message: expect.stringMatching(/certificate/) as string,
      })
    }
    const refused: readonly Wanted[] = [
      // The server wants ours.
      { hasOwn: false },
      ...(kind === 'postgres' ? [] : [{ isPlain: true }]),
    ]
    for (const wanted of refused) {
      await expect(openAt(address(server, wanted)), JSON.stringify(wanted)).rejects.toMatchObject({
        kind: expect.stringMatching(/^(unavailable|invalid)$/) as string,
      })
    }
    if (kind !== 'postgres') return
    await expect(openAt(`${postgres}127.0.0.1:${String(server.port)}/postgres`)).rejects.toThrow(
      'pg_hba.conf',
    )
    const archive = await openArchiveAt(address(server), { environment: {}, directory: '/' })
    onTestFinished(() => archive.close())
    expect(await archive.count({ tenant: '', execution: 'exec_1' })).toBe(0)
  }, 120_000)
})
