// The guides' commands, word for word, against the built package; each prints what its page shows.
import { writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createLakefsClient } from '../src/lakefs/client.ts'
import { createRepository } from '../src/lakefs/administration.ts'
import { openProject } from './support/cli/command.ts'
import { runGuide } from './support/cli/guide.ts'
import { placeDocument } from './support/cli/placed-document.ts'
import { composeRecovery, readTaken, type Taken } from './support/cli/recovery-guide.ts'
import { RUNBOOK, SITUATION_NAMES } from './support/runbook.ts'
import { openSuiteLakefs } from './support/servers/suite-lakefs.ts'
import { readText } from './support/source-tree.ts'

const TEST_MS = 150_000

async function run(page: string, environment: NodeJS.ProcessEnv = {}): Promise<string> {
  const project = await openProject()
  onTestFinished(() => project.close())
  return runGuide(page, { project, environment })
}

test(
  'EX-20 a task is refused, and both ways on lead out, by the commands of the guide',
  async () => {
    const printed = await run('docs/guides/recover-after-a-refusal.md')
    expect(printed).toContain('branch-moved: the branch has moved away')
    expect(printed).toContain('6 blocks run')
  },
  TEST_MS,
)

test(
  'EX-21 the server runs plainly, with an engine, encrypted and with an archive, by the commands of the guide',
  async () => {
    const page = 'docs/guides/run-the-server.md'
    const printed = await run(page)
    expect(printed.match(/^ready http:/gm)).toHaveLength(4)
    for (const program of ['examples/serve/start.mjs', 'examples/serve/embedded.mjs']) {
      expect(readText(page)).toContain(readText(program))
      expect(printed).toContain(`$ node ${program}\n`)
    }
  },
  TEST_MS,
)

test(
  'EX-22 a task is checked, tried without publishing, and run, by the commands of the guide',
  async () => {
    expect(await run('docs/guides/write-a-task.md')).toContain('orders.count  done')
  },
  TEST_MS,
)

test(
  'EX-23 a task publishes to lakeFS, with and without the hard fence, by the commands of the guide',
  async () => {
    const lakefs = await openSuiteLakefs()
    onTestFinished(() => lakefs.close())
    const { repository, storageNamespace } = lakefs.newRepository('guide')
    const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
    onTestFinished(() => client.close())
    await createRepository(client, { repository, storageNamespace })
    const printed = await run('docs/guides/use-a-real-lakefs.md', {
      LAKEFS_ENDPOINT: lakefs.url,
      LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
      LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
      REPOSITORY: repository,
    })
    expect(printed).toMatch(/published: merged at [0-9a-f]{64}, hard fence/)
  },
  TEST_MS,
)

/** What each way of a page must have done, in the order of the page. */
const WAYS: Readonly<Record<string, readonly ((taken: Taken) => void)[]>> = {
  'failed-unpublished': [triedAgain, startedAgain],
  'branch-moved': [startedAgain, movedBack],
  'refused-work-kept': [startedAgain, workPublished],
  'result-waiting': [completed],
  'published-unreported': [completed, movedBack],
  'abandoned-publication': [movedBack, movedBack, openAgain],
  'foreign-above-input': [onForeign(startedAgain), onForeign(movedBack), onForeign(workPublished)],
  'output-off-branch': [putBack],
  'branch-missing': [ended],
  'claim-left': [claimFollowed],
  'forward-unreported': [forwardCompleted, movedBack],
  'task-unknown': [forgotten],
  done: [complete],
  'moved-on': [movedOn],
  running: [worksOn],
  'taken-over': [takenOver],
  'not-published-here': [ofNoTask],
}

/** Their results are lost on their way, or they are killed while they replace the head of a branch. */
const WORKERS = ['examples/recovery/lost-worker.mjs', 'examples/recovery/killed-worker.mjs']

test.each(Object.entries(WAYS))(
  'EX-25 %s comes about, and its page leads out of it, by the commands of the page',
  async (situation, ways) => {
    const document = composeRecovery(situation)
    expect(document.leadsTo).toHaveLength(ways.length)
    const { directory, page } = await placeDocument(document.text)
    // EX-20 to EX-23 run the real one, which takes longer than most commands; here are some hundred.
    await writeFile(join(directory, 'npx'), '#!/bin/sh\nexec "node_modules/.bin/$@"\n', { mode: 0o755 })
    const PATH = [directory, dirname(process.execPath), process.env['PATH']].join(delimiter)
    const printed = await run(page, { PATH })
    for (const worker of WORKERS)
      expect(printed.includes(`$ node ${worker} `)).toBe(document.text.includes(worker))
    const taken = readTaken(printed, document)
    for (const [index, each] of taken.entries()) {
      expect([each.before.situation, each.after.situation]).toEqual([situation, each.leadsTo])
      ways[index]!(each)
    }
  },
  TEST_MS,
)

test('EX-25 every page of the runbook but two-writers can be tried, and the overview says so', () => {
  const tried = Object.keys(WAYS).sort()
  const pages = SITUATION_NAMES.filter((name) => readText(`${RUNBOOK}/${name}.md`).includes('\n## Try it\n'))
  const marked = readText(`${RUNBOOK}/README.md`).matchAll(/^- \[(\S+)\]\(\S+\) \\\*:/gm)
  expect(tried).toEqual(SITUATION_NAMES.filter((name) => name !== 'two-writers').sort())
  expect(pages.sort()).toEqual(tried)
  expect([...marked].map(([, name]) => name)).toEqual(tried)
})

function triedAgain({ before, after, end }: Taken): void {
  expect(after).toMatchObject({ head: before.head, workflow: before.workflow })
  expect(end).toMatchObject({ ...{ situation: 'done', task: 'COMPLETED' }, workflow: before.workflow })
  expect(end.headParent).toBe(before.input)
}

function startedAgain({ before, after, end }: Taken): void {
  expect(after).toMatchObject({ head: before.head, task: before.task })
  expect(end).toMatchObject({ situation: 'done', task: 'COMPLETED', headParent: before.head })
  expect(end.workflow).not.toBe(before.workflow)
}

/** The results of what is started are lost as well. */
function openAgain({ before, after, end }: Taken): void {
  expect(after.task).toBe(before.task)
  expect(end.input).toBe(before.head)
  expect(['SCHEDULED', 'IN_PROGRESS']).toContain(end.task)
  expect(end.workflow).not.toBe(before.workflow)
}

function movedBack({ before, after, end }: Taken): void {
  expect(before.head).not.toBe(before.input)
  expect(after).toMatchObject({ head: before.input, task: before.task })
  expect(end.head).toBe(before.input)
}

function workPublished({ before, after, end }: Taken): void {
  expect(after).toMatchObject({ headParent: before.input, task: before.task })
  expect(after.head).not.toBe(before.head)
  expect(end.head).toBe(after.head)
}

function onForeign(way: (taken: Taken) => void): (taken: Taken) => void {
  return (taken) => {
    const { headParent, input, task } = taken.before
    expect([headParent, task]).toEqual([input, 'FAILED_WITH_TERMINAL_ERROR'])
    way(taken)
  }
}

function putBack({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ head: before.input, task: 'COMPLETED' })
  expect(before.output).not.toBe(before.head)
  expect(after).toMatchObject({ head: before.output, headParent: before.input, task: 'COMPLETED' })
  expect(end).toMatchObject({ situation: 'done', head: before.output })
}

/** From a claim that stands on the replaced commit to the publication, which stands on the input. */
function claimFollowed({ before, after, end }: Taken): void {
  expect(before.task).toBe('IN_PROGRESS')
  expect([before.input, before.headParent]).not.toContain(before.head)
  expect(before.headParent).not.toBe(before.input)
  expect(after).toMatchObject({ headParent: before.input, task: 'IN_PROGRESS', workflow: before.workflow })
  expect(end.head).toBe(after.head)
}

/** Its publication was looked at as that of no task. */
function forgotten(taken: Taken): void {
  const { headParent, input, workflow } = taken.before
  expect([headParent, workflow]).toEqual([input, undefined])
  movedBack(taken)
}

function complete({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ head: before.output, headParent: before.input, task: 'COMPLETED' })
  expect([after, end]).toEqual([before, before])
}

function movedOn({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ headParent: before.output, task: 'COMPLETED' })
  expect(after).toEqual(before)
  expect(end.head).toBe(before.head)
}

function worksOn({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ head: before.input, task: 'IN_PROGRESS' })
  expect(after).toEqual(before)
  expect(end).toMatchObject({ situation: 'done', headParent: before.input, workflow: before.workflow })
}

function takenOver({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ head: before.input, task: 'CANCELED' })
  expect(after).toEqual(before)
  expect(end).toMatchObject({ situation: 'done', headParent: before.input, task: 'COMPLETED' })
  expect(end.workflow).not.toBe(before.workflow)
}

function ofNoTask({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ headParent: before.input, workflow: undefined })
  expect([after, end]).toEqual([before, before])
}

/** The branch is gone, the one that it was made from stays as it is. */
function ended({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ head: undefined, task: 'IN_PROGRESS' })
  expect(after).toMatchObject({ head: undefined, task: 'CANCELED', workflow: before.workflow })
  expect(end.head).toBe(before.input)
}

function completed(taken: Taken): void {
  expect(taken.before.headParent).toBe(taken.before.input)
  headIsOutput(taken)
}

/** The head stands on the commit that it replaced. */
function forwardCompleted(taken: Taken): void {
  const { head, headParent, input } = taken.before
  expect([head, headParent]).not.toContain(input)
  headIsOutput(taken)
}

function headIsOutput({ before, after, end }: Taken): void {
  expect(before).toMatchObject({ task: 'IN_PROGRESS', output: undefined })
  expect(after).toMatchObject({ head: before.head, task: 'COMPLETED', output: before.head })
  expect(end).toMatchObject({ situation: 'done', head: before.head })
}
