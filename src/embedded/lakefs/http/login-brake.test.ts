import { expect, test } from 'vitest'

import {
  EMBEDDED_LOGIN_ADDRESS_FAILURES_MAX,
  EMBEDDED_LOGIN_FAILURES_MAX,
  EMBEDDED_LOGIN_KEY_FAILURES_MAX,
  EMBEDDED_LOGIN_REMEMBERED_MAX,
  EMBEDDED_LOGIN_TRUST_MS,
} from '../../limits.ts'
import { LoginBrake } from './login-brake.ts'

function openBrake() {
  let nowMs = 0
  const clock = {
    now: () => new Date(nowMs),
    monotonicMs: () => nowMs,
    sleep: () => Promise.resolve(),
  }
  const brake = new LoginBrake(clock)
  const fail = (times: number, address = 'stranger', key = 'KEY'): void => {
    for (let time = 0; time < times; time += 1) brake.failed(address, key)
  }
  return { brake, fail, pass: (ms: number) => (nowMs += ms) }
}

test('ES-128 an address has ten wrong tries for a key, then one each second', () => {
  const { brake, fail, pass } = openBrake()
  fail(EMBEDDED_LOGIN_FAILURES_MAX - 1)
  expect(brake.waitMs('stranger', 'KEY')).toBe(0)
  fail(1)
  expect(brake.waitMs('stranger', 'KEY')).toBe(1_000)
  pass(999)
  expect(brake.waitMs('stranger', 'KEY')).toBeGreaterThan(0)
  pass(1)
  expect(brake.waitMs('stranger', 'KEY')).toBe(0)
  fail(1)
  expect(brake.waitMs('stranger', 'KEY')).toBe(1_000)
})

test('ES-128 changing the key id helps an address only so long', () => {
  const { brake, fail } = openBrake()
  for (let key = 0; key < EMBEDDED_LOGIN_ADDRESS_FAILURES_MAX; key += 1) fail(1, 'stranger', `KEY${key}`)
  expect(brake.waitMs('stranger', 'another')).toBe(200)
})

test('ES-128 of a key that is tried from everywhere each address has one try', () => {
  const { brake, fail } = openBrake()
  for (let host = 0; host < EMBEDDED_LOGIN_KEY_FAILURES_MAX; host += 1) fail(1, `10.0.0.${host}`)
  fail(1, '10.0.1.1')
  expect(brake.waitMs('10.0.1.1', 'KEY')).toBe(1_000)
  expect(brake.waitMs('10.0.1.1', 'OTHER')).toBe(0)
})

test('ES-128 addresses of one IPv6 network count as one, and an IPv4 address is the same in both forms', () => {
  const { brake, fail } = openBrake()
  fail(EMBEDDED_LOGIN_FAILURES_MAX, '2001:db8:0:7::1')
  expect(brake.waitMs('2001:db8:0:7:1:2:3:4', 'KEY')).toBe(1_000)
  expect(brake.waitMs('2001:db8:0:8::1', 'KEY')).toBe(0)
  fail(EMBEDDED_LOGIN_FAILURES_MAX, '::ffff:192.0.2.7')
  expect(brake.waitMs('192.0.2.7', 'KEY')).toBe(1_000)
})

test('ES-129 what others fail to do refuses neither another address nor one that was accepted', () => {
  const { brake, fail, pass } = openBrake()
  for (let host = 0; host < EMBEDDED_LOGIN_KEY_FAILURES_MAX * 2; host += 1) fail(1, `10.0.0.${host}`)
  expect(brake.waitMs('never seen', 'KEY')).toBe(0)
  brake.accepted('shared', 'KEY')
  fail(EMBEDDED_LOGIN_FAILURES_MAX * 2, 'shared')
  expect(brake.waitMs('shared', 'KEY')).toBe(0)
  pass(EMBEDDED_LOGIN_TRUST_MS)
  fail(EMBEDDED_LOGIN_FAILURES_MAX, 'shared')
  expect(brake.waitMs('shared', 'KEY')).toBe(1_000)
})

test('ES-129 a wrong key of an address leaves its other keys alone', () => {
  const { brake, fail } = openBrake()
  fail(EMBEDDED_LOGIN_FAILURES_MAX, 'shared', 'OLD')
  expect(brake.waitMs('shared', 'KEY')).toBe(0)
})

test('ES-128 so many addresses are remembered and no more', () => {
  const { brake, fail } = openBrake()
  fail(EMBEDDED_LOGIN_FAILURES_MAX, 'first')
  for (let host = 0; host < EMBEDDED_LOGIN_REMEMBERED_MAX; host += 1) fail(1, `host ${host}`, 'x'.repeat(99))
  expect(brake.waitMs('first', 'KEY')).toBe(0)
})
