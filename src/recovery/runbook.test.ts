// Goal: every situation has a page, and each command of a page leads where the page says, without losing a commit.
// Method: the pages are read, and each command runs in its scenario, on an embedded lakeFS.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SCENARIOS } from '../../test/support/recovery-scenarios.ts'
import {
  openRecoveryLakefs,
  RecoveryTestWorld,
  type RecoveryLakefs,
} from '../../test/support/recovery-world.ts'
import { expectRunbook, RUNBOOK, RUNBOOK_COMMANDS, SITUATION_NAMES } from '../../test/support/runbook.ts'
import { listFiles, readText } from '../../test/support/source-tree.ts'
import { examine } from './recover.ts'

let lakefs: RecoveryLakefs
beforeAll(async () => {
  lakefs = await openRecoveryLakefs()
})
afterAll(() => lakefs.close())

test('RE-15 every situation has a page of its name with a command, and there is no other page', () => {
  const pages = listFiles(RUNBOOK, (path) => !path.endsWith('README.md'))
  expect(pages).toEqual(SITUATION_NAMES.map((name) => `${RUNBOOK}/${name}.md`).sort())
  expect(new Set(RUNBOOK_COMMANDS.map(({ situation }) => situation))).toEqual(new Set(SITUATION_NAMES))
  for (const name of SITUATION_NAMES) expect(readText(`${RUNBOOK}/README.md`)).toContain(`(${name}.md)`)
})

test('RE-15 every action that a situation offers in its scenario is on its page', async () => {
  for (const situation of SITUATION_NAMES) {
    const it = await RecoveryTestWorld.open(lakefs)
    const [found] = await examine(it.world, await SCENARIOS[situation](it))
    for (const { action, isDefault } of found?.offered ?? [])
      expect(readText(`${RUNBOOK}/${situation}.md`)).toContain(isDefault ? '--apply ' : `--action ${action}`)
  }
})

test.each(RUNBOOK_COMMANDS)('RE-7 $situation: perago $command', async (entry) => {
  await expectRunbook(await RecoveryTestWorld.open(lakefs), entry)
})
