import { expect, test } from 'vitest'
import { hasInstanceEnded, nameThisInstance } from './instance-name.ts'

test('EN-850 an instance of a process that runs, or of which nothing is known, has not ended', async () => {
  const name = await nameThisInstance()
  expect(await nameThisInstance()).not.toBe(name)
  for (const each of [name, '', 'null', '{}', '{"process":{"pid":1}}', '5b1f3c1e'])
    expect(await hasInstanceEnded(each), each).toBe(false)
})
