// The pages on fences say what the code does: these tests read both.
import { describe, expect, test } from 'vitest'
import { FENCE_TABLE } from './support/fence-table.ts'
import { attemptOf, filesOf, NO_CHANGES, publicationOf, TARGET } from './support/publication-world.ts'
import { assertCurrentAttemptSnapshot, StaleAttemptError } from '../src/fences/attempt-fence.ts'
import { decidePublication, PublishFenceError, type PublishRefusal } from '../src/fences/publish-fence.ts'
import { METADATA_KEYS } from '../src/publication/commit-metadata.ts'
import { evidenceTag } from '../src/publication/evidence.ts'
import { publish } from '../src/publication/publish.ts'
import { PUBLICATION_STEPS } from '../src/publication/steps.ts'
import { ScriptedRepo } from '../src/testing/scripted-repo.ts'
import { readText } from './support/source-tree.ts'

const concept = readText('docs/concepts/fences.md')
const protocol = readText('docs/reference/publish-protocol.md')
const guide = readText('docs/guides/recover-after-a-refusal.md')

/** The rows of the table under a heading, or of the first table. */
function tableOf(page: string, heading?: string): string[][] {
  const part = heading === undefined ? page : (page.split(`\n## ${heading}\n`)[1] ?? '').split('\n## ')[0]!
  const lines = part.split('\n')
  const start = lines.findIndex((line) => line.startsWith('|'))
  const rows: string[][] = []
  for (const line of lines.slice(start + 2)) {
    if (!line.startsWith('|')) break
    rows.push(
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  }
  return rows
}

describe('the page on fences', () => {
  test('F-08 its table is the one in the code', () => {
    const rows = Object.entries(FENCE_TABLE).map(([fence, row]) => [
      fence,
      row.judges,
      row.reads,
      row.stands,
      `\`${row.error}\` (\`${row.code}\`)`,
      `\`${row.result}\``,
    ])
    expect(tableOf(concept)).toEqual(rows)
  })

  test('F-08 the errors thrown are the errors of the table', () => {
    const polled = attemptOf()
    const stale = (): void => assertCurrentAttemptSnapshot(polled, { task: undefined, workflow: 'RUNNING' })
    expect(stale).toThrow(
      expect.objectContaining({ name: FENCE_TABLE.attempt.error, code: FENCE_TABLE.attempt.code }),
    )
    expect(stale).toThrow(StaleAttemptError)
    const refused = new PublishFenceError('branch-missing', {
      branch: TARGET,
      inputRef: 'a' as never,
      head: undefined,
      headFirstParent: undefined,
    })
    expect(refused).toMatchObject({ name: FENCE_TABLE.publish.error, code: FENCE_TABLE.publish.code })
  })

  test('F-08 the six cells are what the fence decides', () => {
    const [input, above, other] = ['a', 'b', 'c'].map((digit) => digit.repeat(64) as never)
    const heads = [
      { head: input!, headFirstParent: other! },
      { head: above!, headFirstParent: input! },
      { head: other!, headFirstParent: above! },
    ]
    const decided = heads.map((facts) =>
      [false, true].map(
        (diffIsEmpty) => decidePublication({ inputRef: input!, ...facts, diffIsEmpty }).action,
      ),
    )
    expect(
      tableOf(concept, 'The publish fence').map(([, ...cells]) =>
        cells.map((cell) => /\*\*(\w+)\*\*/.exec(cell)?.[1]),
      ),
    ).toEqual(decided)
  })

  test('F-64 the publish protocol has a page of its own, linked from the page on fences', () => {
    expect(concept).toContain('](../reference/publish-protocol.md)')
    expect(protocol).toContain('](../concepts/fences.md)')
  })
})

describe('the page on the protocol', () => {
  test('F-64 it names every step once, in the order of the code', () => {
    const shown = tableOf(protocol, 'Steps').map(([step]) => step!.replaceAll('`', ''))
    expect([...shown].sort()).toEqual([...PUBLICATION_STEPS].sort())
  })

  test('F-08 F-64 the page on the protocol shows the orders of steps that are taken', async () => {
    const taken: string[] = []
    for (const [changed, retried] of [
      [true, false],
      [true, true],
      [false, false],
      [false, true],
    ]) {
      const world = new ScriptedRepo()
      const repo = world.connect('worker')
      const input = world.commitDirectly(TARGET, { 'features/a.txt': '1' })
      if (retried) await publish(publicationOf(repo, input).request)
      const { request, steps } = publicationOf(repo, input, {
        attempt: { retryCount: 1 },
        ...(!changed && { changes: NO_CHANGES }),
      })
      await publish(request)
      taken.push(steps().join(' · '))
      expect(await filesOf(repo)).toEqual({ 'features/a.txt': changed ? 'a of 1' : '1' })
    }
    // What goes side by side begins in the order in which the page names it.
    const shown = tableOf(protocol, 'Order').map(([, steps]) => steps!)
    const inOrder = shown.map((steps) => steps.replace(/(\S+) and (\S+) side by side/, '$1 · $2'))
    expect(inOrder).toEqual(taken)
  })

  test('PU-17 it shows every metadata key with its meaning', () => {
    const rows = Object.entries(METADATA_KEYS).map(([key, meaning]) => [`\`${key}\``, meaning])
    expect(tableOf(protocol, 'Commit metadata')).toEqual(rows)
  })

  test('PU-28 it names the evidence tag as it is made', () => {
    expect(protocol).toContain(`\`${evidenceTag('<commit>' as never)}\``)
  })
})

describe('the runbook', () => {
  test('F-52 it names both ways on, in the words of the error', () => {
    const error = new PublishFenceError('branch-moved', {
      branch: TARGET,
      inputRef: 'a' as never,
      head: 'b' as never,
      headFirstParent: undefined,
    })
    for (const way of ['start a new workflow from', 'an operator decide']) {
      expect(error.next?.toLowerCase()).toContain(way)
      expect(guide.toLowerCase()).toContain(way)
    }
  })

  test('F-52 it explains every reason there is', () => {
    const reasons: Record<PublishRefusal, true> = {
      'branch-moved': true,
      'branch-missing': true,
      'not-own': true,
      'landed-elsewhere': true,
      'moved-away': true,
      'fence-not-held': true,
    }
    expect(tableOf(guide, 'See what happened').map(([reason]) => reason!.replaceAll('`', ''))).toEqual(
      Object.keys(reasons),
    )
  })
})
