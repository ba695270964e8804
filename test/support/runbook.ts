// The commands of the runbook, as its pages have them, and how one is carried out in a world.
import { branchName, type CommitRef } from '../../src/base/ids.ts'
import type { Json } from '../../src/base/json.ts'
import type { WorkflowId } from '../../src/fences/attempt-snapshot.ts'
import { readNewest } from '../../src/publication/claims.ts'
import { evidenceTag } from '../../src/publication/evidence.ts'
import { examine, isRecoveryAction, recover } from '../../src/recovery/recover.ts'
import { SITUATIONS, type Situation } from '../../src/recovery/situation.ts'
import { expect } from 'vitest'
import { SCENARIOS } from './recovery-scenarios.ts'
import type { RecoveryTestWorld } from './recovery-world.ts'
import { readText } from './source-tree.ts'

export const RUNBOOK = 'docs/guides/recovery'
export const SITUATION_NAMES = Object.keys(SITUATIONS) as Situation[]

export interface RunbookCommand {
  readonly situation: Situation
  readonly command: string
  readonly leadsTo: string
}

export const RUNBOOK_COMMANDS = SITUATION_NAMES.flatMap((situation): RunbookCommand[] =>
  [...readText(`${RUNBOOK}/${situation}.md`).matchAll(/^npx perago (.+?) +# leads to (\S+)$/gm)].map(
    ([, command = '', leadsTo = '']) => ({ situation, command, leadsTo }),
  ),
)

/** Brings the situation about, runs the command, and holds it against what the page says. */
export async function expectRunbook(
  it: RecoveryTestWorld,
  { situation, command, leadsTo }: RunbookCommand,
): Promise<void> {
  const target = await SCENARIOS[situation](it)
  const old = await it.repo.readBranch(branchName('main'))
  await run(it, target, command)
  const now = await it.repo.readBranch(branchName('main'))
  if (old !== undefined && old.head !== now?.head) expect(await isKept(it, old.head)).toBe(true)
  expect((await examine(it.world, target)).map((each) => each.situation)).toEqual([leadsTo])
}

async function run(it: RecoveryTestWorld, target: string, command: string): Promise<void> {
  const [name, whom] = command.split(' ')
  const [other] = (await examine(it.world, target)).flatMap(({ findings }) => findings.others)
  const workflowId = (whom === '"$OTHER"' ? other : target) as WorkflowId
  if (name === 'cancel') return it.queue.terminate(workflowId)
  if (name === 'retry') return it.queue.retry(workflowId)
  expect([name, whom]).toEqual(['recover', target === it.place ? '"$REPOSITORY/$BRANCH"' : '"$WORKFLOW"'])
  if (!command.includes('--apply')) return
  const { action } = /--action (?<action>\S+)/.exec(command)?.groups ?? {}
  const { reason } = /--reason "(?<reason>[^"]+)"/.exec(command)?.groups ?? {}
  const { result } = /--result '(?<result>[^']+)'/.exec(command)?.groups ?? {}
  const asked = action !== undefined && isRecoveryAction(action) ? action : undefined
  const given = result === undefined ? undefined : (JSON.parse(result) as Json)
  const [recovered] = await recover(it.world, { target, action: asked, reason, result: given })
  expect(recovered?.done.length).toBeGreaterThan(0)
  if (asked === 'restart')
    expect(await it.claim()).toMatchObject({ input: { workspace: { ref: await it.head() } } })
}

async function isKept({ repo }: RecoveryTestWorld, ref: CommitRef): Promise<boolean> {
  return (await readNewest(repo, branchName(evidenceTag(ref)), {}))?.ref === ref
}
