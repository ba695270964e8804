// Goal: every situation has a page, and each command of a page leads where the page says, without losing a commit.
// Method: the pages are read, and each command runs in its scenario, on an embedded lakeFS.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCENARIOS } from '../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { listFiles, readText } from '../../test/support/source-tree.ts'
import { branchName, type CommitRef } from '../base/ids.ts'
import type { Json } from '../base/json.ts'
import type { WorkflowId } from '../fences/attempt-snapshot.ts'
import { readNewest } from '../publication/claims.ts'
import { evidenceTag } from '../publication/evidence.ts'
import { examine, isRecoveryAction, recover } from './recover.ts'
import { SITUATIONS, type Situation } from './situation.ts'

const FOLDER = 'docs/guides/recovery'
const SITUATION_NAMES = Object.keys(SITUATIONS) as Situation[]

interface Command {
  readonly situation: Situation
  readonly command: string
  readonly leadsTo: string
}

const commands = SITUATION_NAMES.flatMap((situation): Command[] =>
  [...readText(`${FOLDER}/${situation}.md`).matchAll(/^perago (.+?) +# leads to (\S+)$/gm)].map(
    ([, command = '', leadsTo = '']) => ({ situation, command, leadsTo }),
  ),
)

let lakefs: RecoveryLakefs
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())

test('RE-15 every situation has a page of its name with a command, and there is no other page', () => {
  const pages = listFiles(FOLDER, (path) => !path.endsWith('README.md'))
  expect(pages).toEqual(SITUATION_NAMES.map((name) => `${FOLDER}/${name}.md`).sort())
  expect(new Set(commands.map(({ situation }) => situation))).toEqual(new Set(SITUATION_NAMES))
  for (const name of SITUATION_NAMES) expect(readText(`${FOLDER}/README.md`)).toContain(`(${name}.md)`)
})

test('RE-15 every action that a situation offers in its scenario is on its page', async () => {
  for (const situation of SITUATION_NAMES) {
    const it = await RecoveryTestWorld.open(lakefs)
    const [found] = await examine(it.world, await SCENARIOS[situation](it))
    for (const { action, isDefault } of found?.offered ?? [])
      expect(readText(`${FOLDER}/${situation}.md`)).toContain(isDefault ? '--apply ' : `--action ${action}`)
  }
})

test.each(commands)('RE-7 $situation: perago $command', async ({ situation, command, leadsTo }) => {
  const it = await RecoveryTestWorld.open(lakefs)
  const target = await SCENARIOS[situation](it)
  const old = await it.repo.readBranch(branchName('main'))
  await run(it, target, command)
  const now = await it.repo.readBranch(branchName('main'))
  if (old !== undefined && old.head !== now?.head) expect(await isKept(it, old.head)).toBe(true)
  expect((await examine(it.world, target)).map((each) => each.situation)).toEqual([leadsTo])
})

async function run(it: RecoveryTestWorld, target: string, command: string): Promise<void> {
  const [name, whom] = command.split(' ')
  const [other] = (await examine(it.world, target)).flatMap(({ findings }) => findings.others)
  const workflowId = (whom === 'OTHER' ? other : target) as WorkflowId
  if (name === 'cancel') return it.queue.terminate(workflowId)
  if (name === 'retry') return it.queue.retry(workflowId)
  expect([name, ['WORKFLOW', 'BRANCH'].includes(whom ?? '')]).toEqual(['recover', true])
  expect(whom === 'BRANCH').toBe(target === it.place)
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
