// The diagrams of the documents say what the code does. With `-u` those that follow from a table are drawn again.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decidePublication } from '../src/fences/publish-fence.ts'
import { drawRooms } from './support/room-diagram.ts'
import { RUNBOOK_COMMANDS, SITUATION_NAMES, type RunbookCommand } from './support/runbook.ts'
import { PROJECT_ROOT, readText } from './support/source-tree.ts'

const FENCES = 'docs/concepts/fences.md'

/** The text of a page whose one diagram is replaced. */
function withDiagram(page: string, diagram: string): string {
  const [before, , after, ...more] = readText(page).split(/^```mermaid\n([\s\S]*?)^```$/m)
  expect(more, `${page} has one diagram`).toEqual([])
  return [before, '```mermaid\n', diagram, '\n```', after].join('')
}

function diagramsOf(page: string): string[] {
  return [...readText(page).matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].map(([, diagram = '']) => diagram)
}

test('HO-63 CONTRIBUTING draws the table of rooms that is enforced', async () => {
  const drawn = withDiagram('CONTRIBUTING.md', drawRooms())
  await expect(drawn).toMatchFileSnapshot(join(PROJECT_ROOT, 'CONTRIBUTING.md'))
})

test('HO-64 the steps of a publication are drawn in their order', () => {
  const [common = '', ...cases] = diagramsOf(FENCES)[0]!.split(/^ +(?:alt|else) .+$/m)
  const [onInput, aboveInput, refused] = cases.map((each) => [...stepsOf(common), ...stepsOf(each)])
  const orders = readText('docs/reference/publish-protocol.md').matchAll(
    /^\| changes, head .+? \| (.+) \|$/gm,
  )
  expect([onInput, aboveInput]).toEqual([...orders].map(([, steps = '']) => steps.split(' · ')))
  expect(refused?.slice(-2)).toEqual(['publish-fence', 'keep-evidence'])
})

test('HO-64 what the publish fence decides is drawn as it decides', () => {
  const [input, above, other] = ['a', 'b', 'c'].map((digit) => digit.repeat(64) as never)
  const heads = {
    input: { head: input!, headFirstParent: other! },
    above: { head: above!, headFirstParent: input! },
  }
  const decided = Object.entries(heads).flatMap(([stand, facts]) =>
    [false, true].map((diffIsEmpty) => {
      const { action } = decidePublication({ inputRef: input!, ...facts, diffIsEmpty })
      return `${stand} -->|${diffIsEmpty ? 'no' : 'yes'}| ${action}`
    }),
  )
  const arrows = diagramsOf(FENCES)[1]!.match(/\S+ -->.*$/gm) ?? []
  expect(arrows.filter((arrow) => !arrow.startsWith('head '))).toEqual(decided)
  for (const diffIsEmpty of [false, true]) {
    const facts = { inputRef: input!, head: other!, headFirstParent: above!, diffIsEmpty }
    expect(decidePublication(facts).action).toBe('refuse')
  }
  expect(arrows.at(2)).toBe('head -->|"anything else, or no branch"| refuse')
})

test('HO-65 every situation is drawn, with where the commands of its page lead', async () => {
  const arrows = RUNBOOK_COMMANDS.filter(({ situation, leadsTo }) => situation !== leadsTo)
  const moved = new Set(arrows.flatMap(({ situation, leadsTo }) => [situation, leadsTo]))
  const lines = [
    'flowchart LR',
    ...arrows.map((arrow) => `  ${arrow.situation} -->|${wayOf(arrow)}| ${arrow.leadsTo}`),
    ...SITUATION_NAMES.filter((situation) => !moved.has(situation)).map((situation) => `  ${situation}`),
  ]
  const page = 'docs/concepts/recovery.md'
  await expect(withDiagram(page, lines.join('\n'))).toMatchFileSnapshot(join(PROJECT_ROOT, page))
})

/** The steps that messages name: `a · b (why)`. */
function stepsOf(part: string): string[] {
  const messages = [...part.matchAll(/^ +W->>[LCW]: ([a-z][^(\n]*)/gm)]
  return messages.flatMap(([, names = '']) => names.trim().split(' · '))
}

function wayOf({ command }: RunbookCommand): string {
  const [, action] = /--action (\S+)/.exec(command) ?? []
  return action ?? (command.includes('--apply') ? '--apply' : command.split(' ')[0]!)
}
