import { expect, test, vi } from 'vitest'
import { openMetadataDb } from './metadata-db.ts'
import { WriteQueue } from './write-queue.ts'

function queue() {
  const db = openMetadataDb(':memory:', 'create')
  db.exec('CREATE TABLE written (number INTEGER PRIMARY KEY)')
  const writes = new WriteQueue(db)
  const insert = (number: number) =>
    writes.run(() => db.run('INSERT INTO written (number) VALUES (?)', number))
  const written = () =>
    db.all<{ number: number }>('SELECT number FROM written ORDER BY number').map((row) => row.number)
  const exec = vi.spyOn(db, 'exec')
  const commits = () => exec.mock.calls.filter(([sql]) => sql === 'COMMIT').length
  return { db, writes, insert, written, commits }
}

test('EE-47 all writes of one turn share one transaction, and run in the order they were asked for', async () => {
  const { writes, written, commits, db } = queue()
  const order: number[] = []
  await Promise.all(
    [3, 1, 2].map((number) =>
      writes.run(() => {
        order.push(number)
        expect(db.isInTransaction).toBe(true)
        db.run('INSERT INTO written (number) VALUES (?)', number)
      }),
    ),
  )
  expect(order).toEqual([3, 1, 2])
  expect(commits()).toBe(1)
  expect(written()).toEqual([1, 2, 3])
})

test('EE-48 a write that throws undoes itself and nothing else of its transaction', async () => {
  const { writes, insert, written, commits, db } = queue()
  const refused = writes.run(() => {
    db.run('INSERT INTO written (number) VALUES (?)', 2)
    throw new Error('refused')
  })
  const asked = await Promise.allSettled([insert(1), refused, insert(3), insert(1)])
  expect(asked.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
  expect(written()).toEqual([1, 3])
  expect(commits()).toBe(1)
})

test('EE-49 nobody is told of success when the transaction cannot be committed', async () => {
  const { writes, insert, written, db } = queue()
  db.exec('PRAGMA foreign_keys = ON')
  db.exec('CREATE TABLE child (parent INTEGER REFERENCES written (number) DEFERRABLE INITIALLY DEFERRED)')
  // A deferred constraint fails at the commit and no sooner: the same moment as a disk that cannot sync.
  const broken = writes.run(() => db.run('INSERT INTO child (parent) VALUES (99)'))
  const asked = await Promise.allSettled([insert(1), broken, insert(2)])
  for (const result of asked) {
    expect(result).toMatchObject({
      status: 'rejected',
      reason: { code: 'embedded/write-failed', kind: 'unavailable' },
    })
  }
  expect(written()).toEqual([])
  await insert(3)
  expect(written()).toEqual([3])
})

test('EE-49 a transaction that ends in the middle of a batch takes everybody of it along', async () => {
  const { writes, insert, written, db } = queue()
  const ending = writes.run(() => {
    db.exec('ROLLBACK')
    throw new Error('the disk is full')
  })
  const asked = await Promise.allSettled([insert(1), ending, insert(2)])
  expect(asked.every((result) => result.status === 'rejected')).toBe(true)
  expect(written()).toEqual([])
})

test('EE-50 closing runs what is waiting and takes nothing more', async () => {
  const { writes, insert, written } = queue()
  const waiting = insert(1)
  writes.close()
  await waiting
  expect(written()).toEqual([1])
  await expect(insert(2)).rejects.toMatchObject({ code: 'embedded/closed' })
})
