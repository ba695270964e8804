import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { aborted, followSignals, unlessAborted } from './abort-signals.ts'

const never = new Promise<never>(() => undefined)

test('BA-102 waiting for a signal ends when it is aborted, or was already', async () => {
  const controller = new AbortController()
  const waiting = aborted(controller.signal)
  controller.abort()
  await waiting
  await aborted(controller.signal)
})

test('BA-102 work is given up when its signal is aborted, with the reason of the signal', async () => {
  const controller = new AbortController()
  const given = unlessAborted(never, controller.signal)
  controller.abort(new Error('enough'))
  await expect(given).rejects.toThrow('enough')
  await expect(unlessAborted(never, controller.signal)).rejects.toThrow('enough')
})

test('BA-102 work that ends leaves no listener on its signal', async () => {
  const { signal } = new AbortController()
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1)
  await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow('broken')
  expect(await unlessAborted(Promise.resolve(2), undefined)).toBe(2)
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('BA-102 a signal follows several others until it is released', () => {
  const [first, second] = [new AbortController(), new AbortController()]
  const released = followSignals(first.signal, undefined, second.signal)
  released.release()
  const following = followSignals(first.signal, undefined, second.signal)
  second.abort(new Error('the second'))
  expect(following.signal.reason).toEqual(new Error('the second'))
  expect(released.signal.aborted).toBe(false)
  expect(followSignals(second.signal).signal.aborted).toBe(true)
  following.release()
  expect(getEventListeners(first.signal, 'abort')).toEqual([])
})

test('BA-102 any number of requests may run under a signal that follows others, without a warning of Node', async () => {
  const warnings: Error[] = []
  const note = (warning: Error): void => void warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const { signal } = followSignals()
  for (let count = 0; count < 40; count++) signal.addEventListener('abort', () => undefined)
  await nextTurn()
  expect(warnings).toEqual([])
})

test('BA-223 any number of signals may follow one without a warning', async () => {
  const warnings: unknown[] = []
  const note = (warning: Error): unknown => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => {
    process.off('warning', note)
  })
  const source = new AbortController()
  const following = Array.from({ length: 20 }, () => followSignals(source.signal))
  await nextTurn()
  for (const one of following) one.release()
  expect(warnings).toEqual([])
})
