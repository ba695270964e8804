// Goal: a task that is killed anywhere loses nothing, and a task that is wrong is found out.
// Method: tasks that are right, and one for each way of being wrong. Workers that are wrong: test/simulation/without-fences.test.ts.
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { defineCommandTask, defineTask, defineWorkspaceTask } from '../../tasks/task-definition.ts'
import { CrashCaseError, tryEveryCrash, type CrashOptions } from './try-every-crash.ts'

const RUN_MS = 120_000
const owner = 'data@example.org'
const day = z.object({ day: z.string() })
const total = z.object({ total: z.number() })
const files = { 'sales/friday.csv': '3\n4\n', 'old.txt': 'old\n' }
const params = { day: 'friday' }

async function addUp(path: string): Promise<number> {
  const text = await readFile(path, 'utf8')
  return text
    .trim()
    .split('\n')
    .reduce((sum, line) => sum + Number(line), 0)
}

/** Adds up, removes a file, and does what else it is told to. */
function totalling(
  more: (dir: string) => unknown = () => undefined,
  controls: { readonly onRetry?: 'adopt' | 'replace' } = {},
) {
  return defineWorkspaceTask({
    ...{ name: 'sales.total', owner, params: day, result: total, controls },
    body: async ({ workspace, params: { day } }) => {
      const sum = await addUp(workspace.path('sales', `${day}.csv`))
      await writeFile(workspace.path('total.txt'), `${sum}\n`)
      await rm(workspace.path('old.txt'))
      await more(workspace.dir)
      return { total: sum }
    },
  })
}

async function failureOf(options: CrashOptions): Promise<CrashCaseError> {
  const error: unknown = await tryEveryCrash(options).then(
    (figures) => figures,
    (failure: unknown) => failure,
  )
  expect(error).toBeInstanceOf(CrashCaseError)
  return error as CrashCaseError
}

describe('a task that is right', () => {
  test(
    'PU-207 it publishes once and the same, wherever it is killed and whichever answer is lost',
    async () => {
      const attempts: number[] = []
      const figures = await tryEveryCrash({
        ...{ task: totalling(), params, files },
        check: (outcome) => {
          expect(outcome.files).toEqual({ 'sales/friday.csv': '3\n4\n', 'total.txt': '7\n' })
          expect(outcome.result).toEqual({ total: 7 })
          attempts.push(outcome.attempts)
        },
      })
      expect(figures.isEveryPointTried).toBe(true)
      expect(figures.cases).toBeGreaterThan(150)
      for (const what of ['crashes', 'faults', 'timeouts', 'foreignCommits', 'renewals'] as const)
        expect(figures[what]).toBeGreaterThan(20)
      expect(Math.max(...attempts)).toBeGreaterThan(1)
    },
    RUN_MS,
  )

  test(
    'PU-207 cases with two troubles and random schedules hold as well',
    async () => {
      const task = totalling()
      const figures = await tryEveryCrash({ task, params, files, strength: 'hard', casesMax: 160, seeds: 20 })
      expect(figures.cases).toBe(180)
      expect(figures.windows).not.toHaveProperty('merged onto an unread commit')
    },
    RUN_MS,
  )

  test(
    'PU-207 a retry that adopts, and a program, are tried in the same way',
    async () => {
      const onRetry = 'adopt'
      const adopting = totalling(() => undefined, { onRetry })
      const quick = { params, files, strength: 'hard', foreignWriter: false } as const
      expect((await tryEveryCrash({ ...quick, task: adopting })).isEveryPointTried).toBe(true)
      const script = `require('fs').writeFileSync('total.txt', '7'); process.stdout.write('{"total":7}')`
      const command = [process.execPath, '-e', script] as const
      const described = { name: 'sales.command', owner, params: day, result: total, workspace: {} }
      const program = defineCommandTask({ ...described, command, resultFrom: 'stdout' })
      const { cases, crashes, foreignCommits } = await tryEveryCrash({
        ...quick,
        task: program,
        casesMax: 10,
      })
      expect(cases).toBe(10)
      expect(crashes).toBeGreaterThan(0)
      expect(foreignCommits).toBe(0)
    },
    RUN_MS,
  )
})

describe('a task that is wrong', () => {
  test('PU-208 one that remembers something in its module publishes something else on a retry', async () => {
    let runs = 0
    const task = totalling((dir) => writeFile(join(dir, 'run.txt'), String(++runs)))
    const { problems } = await failureOf({ task, params, files, before: () => void (runs = 0) })
    expect(problems).toEqual(['published or reported something else than without trouble'])
  })

  test('PU-208 one that writes outside its directory finds there what a killed attempt has left', async () => {
    const outside = join(await mkdtemp(join(tmpdir(), 'perago-outside-')), 'rows.txt')
    onTestFinished(() => rm(join(outside, '..'), { recursive: true }))
    const before = (): Promise<void> => rm(outside, { force: true })
    const task = totalling(async (dir) => {
      await appendFile(outside, 'row\n')
      await writeFile(join(dir, 'rows.txt'), await readFile(outside))
    })
    const { problems, story } = await failureOf({ task, params, files, before })
    expect(problems).toEqual(['published or reported something else than without trouble'])
    expect(story).toMatch(/claim-1 (?:dies|times out)/)
  })

  test('PU-208 PU-209 a side effect that must not come twice is found by the check, and replayed by its text', async () => {
    const rows: string[] = []
    const options = {
      ...{ task: totalling(() => rows.push('row')), params, files },
      before: () => void rows.splice(0),
      check: () => expect(rows).toEqual(['row']),
    }
    const error = await failureOf(options)
    expect(error.problems).toEqual([expect.stringMatching(/^the check of the test failed: /)])
    expect(error.replay).toMatch(/^hard\/cases\/\d+=\d+$/)
    expect(error.message).toContain(`replay: ${error.replay}`)
    expect(error.story.split('\n').length).toBeLessThan(60)
    const again = await failureOf({ ...options, replay: error.replay })
    expect(again.story).toBe(error.story)
    expect(again.problems).toEqual(error.problems)
    // The same case holds once the task is right.
    await tryEveryCrash({ ...options, task: totalling(), check: () => undefined, replay: error.replay })
  })

  test('PU-208 one that fails says why, and one that publishes nothing is refused', async () => {
    const task = totalling(() => {
      throw new Error('no disk')
    })
    expect((await failureOf({ task, params, files })).message).toMatch(/did not complete: .*no disk/)
    const plain = defineTask({ ...{ name: 'a', owner, params: day, result: day }, body: () => params })
    await expect(tryEveryCrash({ task: plain as never, params })).rejects.toThrow(/publishes nothing/)
    await expect(tryEveryCrash({ task: totalling(), params, replay: '1,2' })).rejects.toThrow(/names no case/)
  })
})
