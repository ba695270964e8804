// Goal: whatever bits of the file change, what was acknowledged is read back as it was, or refused as damaged. Never anything else.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { collect, externalEvent, StillClock } from '../../../test/support/core-world.ts'
import { isPeragoError } from '../../base/errors.ts'
import { openCore, type Core } from '../../core/life-cycle/core.ts'
import { readPages } from '../../core/read-pages.ts'
import { openSqliteStore } from './sqlite-store.ts'

const EXECUTIONS = ['exec_0', 'exec_1', 'exec_2']
const EVENTS = 40
const TYPES = ['external.a', 'external.b', 'external.c', 'external.large']
const DAMAGED = ['stores/corrupt', 'core/log-hole']
const PLACES = 250
const PAGE_BYTES = 4096

let directory: string
let whole: Buffer
let facts: Answers

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'perago-bits-'))
  const file = join(directory, 'whole.db')
  const store = openSqliteStore({ file })
  const core = openCore({ store, clock: new StillClock() })
  for (const id of EXECUTIONS) {
    const { events, variables } = await core.startExecution({ name: 'etl', id })
    for (let n = 0; n < EVENTS; n += 1) {
      await events.publish(externalEvent(TYPES[n % 3] ?? '', { n, text: 'x'.repeat(n * 10) }))
    }
    await events.publish(externalEvent('external.large', { text: 'y'.repeat(20_000) }))
    await variables.set('pipeline.output.state', { id })
  }
  await store.close()
  whole = readFileSync(file)
  facts = await ask(file)
}, 60_000)
afterAll(() => rmSync(directory, { recursive: true }))

type Answers = ReadonlyMap<string, string>

/** All that a caller can ask, with each answer. */
async function ask(file: string): Promise<Answers> {
  const store = openSqliteStore({ file })
  try {
    const core = openCore({ store, clock: new StillClock() })
    const questions = EXECUTIONS.flatMap((id) => questionsAbout(core, id))
    const everything = async () => (await collect(readPages(store, { prefix: '', limit: 1000 }))).flat()
    const answers = new Map<string, string>()
    for (const [what, answer] of [...questions, ['all entries', everything] as const]) {
      answers.set(what, await answer().then((found: unknown) => JSON.stringify(found), refusalOf))
    }
    return answers
  } finally {
    await store.close()
  }
}

function questionsAbout(core: Core, id: string): readonly (readonly [string, () => Promise<unknown>])[] {
  const open = () => core.openExecution(id)
  return [
    [`${id}: status`, async () => (await open()).readState()],
    [`${id}: events`, async () => (await open()).events.query()],
    [`${id}: last events`, async () => (await open()).events.query({ order: 'descending', limit: 5 })],
    ...TYPES.map((type) => [`${id}: ${type}`, async () => (await open()).events.get(type)] as const),
    ...TYPES.map((type) => [`${id}: has ${type}`, async () => (await open()).events.has(type)] as const),
    [`${id}: variable`, async () => (await open()).variables.get('pipeline.output.state')],
  ]
}

function refusalOf(error: unknown): string {
  return isPeragoError(error) && DAMAGED.includes(error.code) ? 'refused' : `failed: ${String(error)}`
}

/** The answers of a damaged file that are neither what they were nor a refusal. */
async function findWrong(bytes: Buffer): Promise<readonly string[]> {
  const file = join(directory, 'damaged.db')
  writeFileSync(file, bytes)
  try {
    const answers = await ask(file)
    return [...facts]
      .map(([what, fact]) => [what, fact, answers.get(what) ?? 'none'] as const)
      .filter(([, fact, answer]) => answer !== fact && answer !== 'refused')
      .map(([what, , answer]) => `${what}: ${answer.slice(0, 200)}`)
  } catch (error) {
    const refusal = refusalOf(error)
    return refusal === 'refused' ? [] : [refusal]
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
  }
}

const damage = fc.record({
  page: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  // Half of them in the head of a page, which leads to the rest of it.
  place: fc.oneof(fc.nat(127), fc.nat(PAGE_BYTES - 1)),
  flips: fc.oneof(
    fc.nat(7).map((bit) => [1 << bit]),
    fc.array(fc.integer({ min: 1, max: 255 }), { minLength: 1, maxLength: 64 }),
  ),
})

test(
  'ST-104 whatever bits of the file change, each event is read back whole or refused as damaged',
  { timeout: 600_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(damage, async ({ page, place, flips }) => {
        const from = Math.floor((page * whole.length) / PAGE_BYTES) * PAGE_BYTES + place
        const bytes = Buffer.from(whole)
        for (const [at, flip] of flips.entries()) {
          if (from + at < bytes.length) bytes[from + at] = (bytes[from + at] ?? 0) ^ flip
        }
        expect(await findWrong(bytes)).toEqual([])
      }),
      { numRuns: fc.readConfigureGlobal().numRuns ?? PLACES },
    )
  },
)
