// The stream of one follower in a time that is moved by hand: its token, its comments, the sizes of what it sends.
import { afterEach, describe, expect, test } from 'vitest'
import { openDoorWorld, type DoorWorld } from '../../../test/support/doors/world.ts'
import type { Execution } from '../../core/life-cycle/execution.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import type { Tokens } from '../access/tokens.ts'
import { FOLLOW_HEARTBEAT_MS, FOLLOW_PIECE_MAX_BYTES } from '../limits.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Followed {
  readonly clock: ManualClock
  readonly world: DoorWorld
  readonly execution: Execution
  readonly follow: (query?: string) => Promise<Following>
  readonly revoke: () => Promise<void>
}

async function openFollowed(replace: (tokens: Tokens) => Partial<Tokens> = () => ({})): Promise<Followed> {
  const clock = new ManualClock()
  const plain = openDoorWorld()
  const tokens = { ...plain.tokens, ...replace(plain.tokens) }
  const world = openDoorWorld({ clock, tokens })
  closing.push(
    () => plain.close(),
    () => world.close(),
  )
  const execution = await world.core.startExecution({ id: 'exec_1', name: 'etl' })
  const { token, record } = await plain.tokens.create({ name: 'x', role: 'viewer' })
  return {
    clock,
    world,
    execution,
    follow: async (query = '?after=1') =>
      new Following(await world.ask(`/executions/exec_1/follow${query}`, { token })),
    revoke: () => plain.tokens.revoke(record.id),
  }
}

/** Reads only when told to. */
class Following {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly sizes: number[] = []
  text = ''
  isDone = false

  constructor(response: Response) {
    this.#reader = response.body!.getReader()
    closing.push(() => this.#reader.cancel())
  }

  async read(): Promise<void> {
    const { done, value } = await this.#reader.read()
    this.isDone = done
    if (value === undefined) return
    this.sizes.push(value.byteLength)
    this.text += Buffer.from(value).toString('latin1')
  }

  async readUntil(isEnough: () => boolean): Promise<void> {
    while (!this.isDone && !isEnough()) await this.read()
  }
}

const publish = (execution: Execution, type: string, bytes = 0) =>
  execution.events.publish({
    type,
    source: { entityType: 'node', entityId: 'a' },
    payload: { text: 'x'.repeat(bytes) },
  })

describe('the token of a follower', () => {
  test('DO-64 ends its stream within one interval after it was revoked, while events keep coming', async () => {
    const { clock, execution, follow, revoke } = await openFollowed()
    const following = await follow()
    const step = async (): Promise<void> => {
      await publish(execution, 'a.retrying')
      const before = following.text.length
      await following.readUntil(() => following.text.slice(before).includes('id: '))
      await clock.advance(FOLLOW_HEARTBEAT_MS / 10)
    }
    for (let count = 0; count < 15; count++) await step()
    expect(following.isDone).toBe(false)
    await revoke()
    for (let count = 0; count < 11 && !following.isDone; count++) await step()
    expect(following.isDone).toBe(true)
    // Without the word that the execution has ended.
    expect(following.text).not.toContain('event: end')
  })

  test('DO-64 ends a stream that is not read: one piece is left of it', async () => {
    const { clock, execution, follow, revoke } = await openFollowed()
    const following = await follow()
    await publish(execution, 'a.retrying')
    await following.readUntil(() => following.text.includes('id: 2'))
    for (let count = 0; count < 5; count++) await publish(execution, 'a.retrying', 60_000)
    await revoke()
    await clock.advance(FOLLOW_HEARTBEAT_MS)
    const before = following.text.length
    await following.readUntil(() => false)
    expect(following.text.length - before).toBeLessThanOrEqual(FOLLOW_PIECE_MAX_BYTES)
  })

  test('DO-66 ends its stream when a check has no answer before the next is due', async () => {
    let isAway = false
    const never = new Promise<never>(() => undefined)
    const { clock, follow } = await openFollowed((tokens) => ({
      verify: (token) => (isAway ? never : tokens.verify(token)),
    }))
    const following = await follow()
    isAway = true
    await clock.advance(FOLLOW_HEARTBEAT_MS)
    await following.readUntil(() => following.text.includes(':\n\n'))
    expect(following.isDone).toBe(false)
    await clock.advance(FOLLOW_HEARTBEAT_MS)
    await following.readUntil(() => false)
    expect(following.isDone).toBe(true)
  })
})

describe('a stream', () => {
  test('DO-65 gets a comment in each interval, also while its filter leaves out all that is recorded', async () => {
    const { clock, execution, follow } = await openFollowed()
    const following = await follow('?after=1&type=*.completed')
    const reading = following.readUntil(() => following.text.includes('event: end'))
    for (let beat = 1; beat <= 3; beat++) {
      for (let count = 0; count < 10; count++) {
        await publish(execution, 'a.retrying')
        await clock.advance(FOLLOW_HEARTBEAT_MS / 10)
      }
      await expect.poll(() => following.text.match(/^:$/gm)?.length).toBe(beat)
    }
    await execution.finish({ status: 'completed' })
    await reading
    // Its own event comes through, and the end.
    expect(following.text.match(/^id: .*$/gm)).toEqual(['id: 32'])
    expect(clock.sleeping).toBe(0)
  })

  test('DO-61 is sent in pieces of a bounded size, large events in several, and nothing is lost between them', async () => {
    const { execution, follow } = await openFollowed()
    for (const bytes of [200_000, 10, 10, 40_000, 40_000, 65_000, 250_000, 0]) {
      await publish(execution, 'a.retrying', bytes)
    }
    await execution.finish({ status: 'completed' })
    const following = await follow()
    await following.readUntil(() => false)
    expect(Math.max(...following.sizes)).toBeLessThanOrEqual(FOLLOW_PIECE_MAX_BYTES)
    const shown = [...following.text.matchAll(/^data: (\{"id".*)$/gm)].map(
      ([, data = '']) => JSON.parse(data) as { sequence: number; payload: { text?: string } },
    )
    expect(shown.map(({ sequence }) => sequence)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(shown.map(({ payload }) => payload.text?.length)).toEqual([
      ...[200_000, 10, 10, 40_000, 40_000, 65_000, 250_000, 0],
      undefined,
    ])
  })
})
