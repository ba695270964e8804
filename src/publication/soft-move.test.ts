// Goal: without the hard fence too, nobody's commit is dropped by a replacement or relocation, whenever it arrives.
// Method: somebody commits right before each request of a move in turn, and stray collapses arrive at any time.
import { beforeEach, describe, expect, test } from 'vitest'
import {
  attemptOf,
  logOf,
  NO_CHANGES,
  PREFIX,
  publicationOf,
  TARGET,
  uploadOf,
} from '../../test/support/publication-world.ts'
import { isPeragoError } from '../base/errors.ts'
import type { CommitRef } from '../base/ids.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import type { RepoCall, RepoScript } from '../testing/scripted-world.ts'
import { CLAIM_WIDTHS } from './limits.ts'
import type { ClaimShape } from './ports.ts'
import type { PublicationResult } from './publication.ts'
import { readSettledHead } from './claims.ts'
import { publish } from './publish.ts'

let arrives: (call: RepoCall) => Promise<unknown> | undefined
let isTwice: (call: RepoCall) => boolean
const later: (() => void)[] = []
const script: RepoScript = {
  arrive: async (call) => {
    if (call.client === 'worker') await arrives(call)
    return isTwice(call) ? 'twice' : 'none'
  },
  answer: () => Promise.resolve(),
  later: (_, effect) => void later.push(effect),
}

let world: ScriptedRepo
let input: CommitRef
beforeEach(() => {
  arrives = () => undefined
  isTwice = () => false
  later.length = 0
  openWorld()
})

function openWorld(takesRecords = true): void {
  world = new ScriptedRepo({ script, takesRecords })
  input = world.commitDirectly(TARGET, { [`${PREFIX}a.txt`]: 'first' })
}

type Kind = 'replaced' | 'relocated'

async function run(
  kind: Kind | 'merged',
  retryCount = kind === 'merged' ? 0 : 1,
): Promise<{ readonly result: PublicationResult; readonly by: unknown }> {
  const changes =
    kind === 'relocated' ? NO_CHANGES : { uploads: [uploadOf(`${PREFIX}a.txt`, kind)], deletes: [] }
  const attempt = attemptOf({ retryCount })
  const { request, events } = publicationOf(world.connect('worker'), input, { changes, attempt })
  const clock = new ManualClock()
  const result = await clock.run(publish({ ...request, clock, random: { next: () => 0.5 } }))
  const step = events.find((event) => event.step === 'replace' || event.step === 'relocate')
  return { result, by: step?.details['by'] }
}

const isKept = (ref: CommitRef): boolean =>
  [...world.model.tags.values(), world.head(TARGET)!].some((keeper) => world.model.isAncestor(ref, keeper))

describe.each(['replaced', 'relocated'] as const)('a branch that is %s', (kind) => {
  const REQUESTS_MAX = 24

  test('PU-215 drops no commit, before whichever of its requests that arrives', async () => {
    let refused = 0
    for (let number = 1; number <= REQUESTS_MAX; number++) {
      openWorld()
      await run('merged')
      const before = world.calls.length
      let theirs: CommitRef | undefined
      arrives = (call) => {
        if (call.number === before + number) theirs = world.commitDirectly(TARGET, { theirs: `${number}` })
        return undefined
      }
      const outcome = await run(kind).catch((error: unknown) => error)
      arrives = () => undefined
      if (theirs === undefined) {
        expect(outcome).toMatchObject({ result: { action: kind } })
        expect(refused).toBeGreaterThan(3)
        return
      }
      expect([number, isKept(theirs)]).toEqual([number, true])
      if (isPeragoError(outcome)) expect([outcome.code, ++refused]).toContain('fences/publish-refused')
    }
    expect.fail(`it has more than ${REQUESTS_MAX} requests`)
  })

  test('PU-215 ends the same when claims are collapsed at every moment, by whoever, as whatever', async () => {
    await run('merged')
    const stray = world.connect('stray')
    const shapes: ClaimShape[] = [
      'hard',
      ...Array.from({ length: CLAIM_WIDTHS }, (_, at) => ({ width: 3 + at })),
    ]
    arrives = () => Promise.all(shapes.map((claim) => stray.collapseClaim({ branch: TARGET, claim })))
    const { result } = await run(kind)
    expect(result).toMatchObject({ action: kind, outputRef: world.head(TARGET) })
    const log = await logOf(world.connect('watcher'))
    expect(log.map(({ ref }) => ref).slice(0, 2)).toEqual(
      kind === 'replaced' ? [result.outputRef, input] : [input, log[1]?.ref],
    )
  })

  test('PU-216 is reset where the server takes no records of commits, and its step says so', async () => {
    expect((await runAfterMerge(kind)).by).toBeUndefined()
    openWorld(false)
    const { result, by } = await runAfterMerge(kind)
    expect([result.action, by, world.head(TARGET)]).toEqual([kind, 'reset', result.outputRef])
  })
})

async function runAfterMerge(kind: Kind): ReturnType<typeof run> {
  await run('merged')
  return run(kind)
}

test('PU-218 a claim whose merge takes effect once more is taken off by the next reader', async () => {
  await run('merged')
  isTwice = ({ client, request }) => client === 'worker' && request === 'merge'
  // The same content again: a merge that brings something is refused the second time.
  const { result } = await run('merged', 1)
  expect(result.action).toBe('replaced')
  for (const again of later) again()
  expect(world.head(TARGET)).not.toBe(result.outputRef)
  const head = await readSettledHead(world.connect('reader'), TARGET, {})
  expect([head?.ref, world.head(TARGET)]).toEqual([result.outputRef, result.outputRef])
})

test('PU-217 a claim that landed on the commit of somebody else stays, and nobody collapses it', async () => {
  await run('merged')
  let theirs: CommitRef | undefined
  arrives = ({ request, branch }) => {
    if (request === 'merge' && branch === TARGET) theirs ??= world.commitDirectly(TARGET, { theirs: '1' })
    return undefined
  }
  await expect(run('replaced')).rejects.toMatchObject({ reason: 'landed-elsewhere' })
  const left = world.head(TARGET)
  await expect(run('replaced', 2)).rejects.toMatchObject({ reason: 'branch-moved' })
  expect(world.head(TARGET)).toBe(left)
  expect((await logOf(world.connect('watcher')))[1]?.ref).toBe(theirs)
})
