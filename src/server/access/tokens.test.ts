import { randomBytes, timingSafeEqual } from 'node:crypto'
import { afterEach, expect, test, vi } from 'vitest'
import { describeError } from '../../base/error-description.ts'
import { isPeragoError } from '../../base/errors.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { openTokens } from './tokens.ts'

vi.mock(import('node:crypto'), async (original) => {
  const real = await original()
  return { ...real, timingSafeEqual: vi.fn(real.timingSafeEqual) }
})

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function open() {
  const store = openMemoryStore()
  closing.push(() => store.close())
  const clock = new ManualClock()
  return { store, clock, tokens: openTokens(store, clock) }
}

async function refusalOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => 'let in',
    (thrown: unknown) => thrown,
  )
  return isPeragoError(error) ? describeError(error) : error
}

test('DO-02 a token is told once; what is kept cannot be turned back into it', async () => {
  const { store, tokens } = open()
  const { token, record } = await tokens.create({ name: 'ci', role: 'operator', tenant: 'acme' })
  expect(token).toMatch(/^perago_[\w-]{12}_[\w-]{43}$/)
  const secret = token.slice(-43)
  const kept = (await store.range({ prefix: '' })).entries.map(({ value }) => Buffer.from(value).toString())
  expect(kept).toHaveLength(1)
  expect(kept.join()).not.toContain(secret)
  expect(kept.join()).not.toContain(Buffer.from(secret, 'base64url').toString('hex'))
  expect(JSON.stringify([await tokens.list(), record])).not.toContain(secret)
  await expect(tokens.verify(token)).resolves.toEqual({ name: record.id, tenant: 'acme', role: 'operator' })
})

test('DO-02 whatever is wrong with a token, it is compared, and the refusal is the same', async () => {
  const { tokens, clock } = open()
  const { token } = await tokens.create({ name: 'a', role: 'viewer' })
  const brief = await tokens.create({ name: 'b', role: 'viewer', lifetimeMs: 1_000 })
  const revoked = await tokens.create({ name: 'c', role: 'viewer' })
  await tokens.revoke(revoked.record.id)
  await expect(tokens.verify(brief.token)).resolves.toMatchObject({ role: 'viewer' })
  await clock.advance(1_000)
  const other = randomBytes(32).toString('base64url')
  const wrong = [
    token.slice(0, -43) + other,
    `perago_${'x'.repeat(12)}_${other}`,
    brief.token,
    revoked.token,
    '',
    'perago_',
    `${token}x`,
    ` ${token}`,
  ]
  const refusals = []
  for (const text of wrong) {
    vi.mocked(timingSafeEqual).mockClear()
    refusals.push(await refusalOf(tokens.verify(text)))
    expect(timingSafeEqual).toHaveBeenCalledTimes(1)
  }
  expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1)
  expect(refusals[0]).toMatchObject({ kind: 'refused', code: 'api/bad-token' })
})

test('DO-05 a token that is revoked or has expired is refused from then on', async () => {
  const { tokens, clock } = open()
  const { token, record } = await tokens.create({ name: 'a', role: 'viewer', lifetimeMs: 60_000 })
  await clock.advance(59_999)
  await expect(tokens.verify(token)).resolves.toMatchObject({ name: record.id })
  await clock.advance(1)
  await expect(tokens.verify(token)).rejects.toMatchObject({ code: 'api/bad-token' })
  const second = await tokens.create({ name: 'a', role: 'viewer' })
  await tokens.revoke(second.record.id)
  await expect(tokens.verify(second.token)).rejects.toMatchObject({ code: 'api/bad-token' })
  await expect(tokens.revoke(second.record.id)).rejects.toMatchObject({ kind: 'missing' })
})

test.each([
  [{ name: '', role: 'viewer' }, 'its name'],
  [{ name: 'a\nb', role: 'viewer' }, 'its name'],
  [{ name: 'a', role: 'root' as 'admin' }, 'its role'],
  [{ name: 'a', role: 'viewer', tenant: 'a/b' }, 'its tenant'],
  [{ name: 'a', role: 'viewer', lifetimeMs: 0 }, 'its lifetime'],
  [{ name: 'a', role: 'viewer', lifetimeMs: NaN }, 'its lifetime'],
] as const)('DO-02 a token is not made of %j: %s', async (wanted, what) => {
  const { tokens } = open()
  await expect(tokens.create(wanted)).rejects.toThrow(what)
  await expect(tokens.list()).resolves.toEqual([])
})
