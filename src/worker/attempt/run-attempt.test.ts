// Goal: whatever happens in an attempt becomes one outcome, and nothing is published but what passed every check.
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { filesOf, logOf, stagingBranchesOf } from '../../../test/support/publication-world.ts'
import {
  filesTask,
  inputFor,
  OWNER,
  openAttemptWorld,
  type AttemptWorld,
} from '../../../test/support/worker/world.ts'
import { createRedactor } from '../../base/redaction.ts'
import { StaleAttemptError } from '../../fences/attempt-fence.ts'
import { ScriptedRepo } from '../../testing/scripted-repo.ts'
import { requireFile } from '../../workspace/comparing/guardrails.ts'
import { TerminalError, WorkerAbandonedError, WorkerStoppingError } from '../../tasks/author-errors.ts'
import { defineTask, type WorkspaceBodyContext } from '../../tasks/task-definition.ts'

let world: AttemptWorld
let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-attempt-'))
  world = await openAttemptWorld(directory)
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

const change = async ({
  workspace,
}: Pick<WorkspaceBodyContext<unknown>, 'workspace'>): Promise<{ rows: number }> => {
  await writeFile(workspace.path('a.csv'), 'changed')
  return { rows: 2 }
}
const nothing = (): { rows: number } => ({ rows: 0 })
/** Without the look at the branch, which ends before the layout or after it. */
const fences = (): string[] =>
  world.events
    .filter(({ step }) => step !== 'look-at-branch')
    .map(({ step, details }) =>
      step === 'publish/attempt-fence' ? `attempt-fence ${String(details['position'])}` : step,
    )

describe('the order of a writable attempt', () => {
  const before = ['read-input', 'lay-out', 'pre-guardrails', 'body', 'post-guardrails', 'compare']
  const staging = [
    'publish/open-staging',
    'publish/upload',
    'publish/commit-staging',
    'publish/verify-staging',
  ]
  test('F-09 WK-11 an attempt with changes runs body, checks, fence, stage, fence, publish fence, merge', async () => {
    const { result } = await world.run(filesTask({ body: change }))
    expect(fences()).toEqual([
      ...before,
      'attempt-fence before-staging',
      ...staging,
      'attempt-fence before-publishing',
      'publish/read-facts',
      'publish/publish-fence',
      'publish/merge',
      'publish/verify',
      'publish',
    ])
    expect(result).toMatchObject({ status: 'COMPLETED', taskId: 'task-1', workerId: 'worker-1' })
    const ref = world.repo.head('main' as never)
    expect(result.output).toEqual({
      workspace: { repository: 'scripted', branch: 'main', refType: 'commit', ref },
      result: { rows: 2 },
    })
    expect(await filesOf(world.repo.connect('test'))).toEqual({
      'orders/a.csv': 'changed',
      'other/b.csv': 'b',
    })
  })

  test("F-09 WK-18 an attempt after an abandoned publication replaces it and names it in the task's log", async () => {
    await world.run(filesTask({ body: change }))
    const superseded = world.repo.head('main' as never)
    world.events.length = 0
    const again = async ({
      workspace,
    }: {
      workspace: { path(name: string): string }
    }): Promise<{ rows: number }> => {
      await writeFile(workspace.path('a.csv'), 'again')
      return { rows: 3 }
    }
    const { result, publication } = await world.run(filesTask({ body: again }), {
      attempt: { retryCount: 1 },
    })
    expect(fences()).toEqual([
      ...before,
      'attempt-fence before-staging',
      ...staging,
      'attempt-fence before-publishing',
      'publish/read-facts',
      'publish/publish-fence',
      'publish/keep-superseded',
      'attempt-fence before-publishing',
      'publish/read-facts',
      'publish/replace',
      'publish',
    ])
    expect(publication).toMatchObject({ action: 'replaced', supersededRef: superseded })
    expect(result.logs?.join('\n')).toContain(`superseded ${superseded ?? ''}, which stays reachable as tag`)
    const log = await logOf(world.repo.connect('test'))
    expect(log.slice(0, 2).map(({ parents }) => parents[0])).toEqual([world.inputRef, log[2]?.ref])
  })

  test('F-09 without changes: fence, publish fence, completion with the input ref and no write', async () => {
    const { result } = await world.run(filesTask({ body: nothing }))
    // The branch is read beside the attempt, and judged after it.
    expect(fences().filter((step) => step !== 'publish/read-facts')).toEqual([
      ...before,
      'attempt-fence before-relocation',
      'publish/publish-fence',
      'publish',
    ])
    expect(result.output).toMatchObject({ workspace: { ref: world.inputRef }, result: { rows: 0 } })
    expect(world.repo.calls.filter(({ writes }) => writes)).toEqual([])
  })

  test('F-09 without changes after an abandoned publication: relocation back to the input', async () => {
    await world.run(filesTask({ body: change }))
    world.events.length = 0
    const { result } = await world.run(filesTask({ body: nothing }), { attempt: { retryCount: 1 } })
    // Once beside the attempt, and once more before the branch is written.
    const told = fences()
    told.splice(told.indexOf('publish/read-facts'), 1)
    expect(told).toEqual([
      ...before,
      'attempt-fence before-relocation',
      'publish/read-facts',
      'publish/publish-fence',
      'publish/keep-superseded',
      'attempt-fence before-publishing',
      'publish/read-facts',
      'publish/relocate',
      'publish',
    ])
    expect(result.output).toMatchObject({ workspace: { ref: world.inputRef } })
    expect(world.repo.head('main' as never)).toBe(world.inputRef)
  })
})

describe('the fences say no', () => {
  test('F-07 F-25 a stale attempt is FAILED, uploads nothing and has no output ref', async () => {
    const { result, error } = await world.run(filesTask({ body: change }), {
      readFresh: (polled) =>
        Promise.resolve({ task: { ...polled, status: 'TIMED_OUT' }, workflow: 'RUNNING' }),
    })
    expect(error).toBeInstanceOf(StaleAttemptError)
    expect(result).toMatchObject({ status: 'FAILED', output: {} })
    expect(world.steps).not.toContain('publish/upload')
    expect(world.repo.head('main' as never)).toBe(world.inputRef)
  })

  test('F-07 a branch that moved on ends the task for good, leaves evidence and carries no output ref', async () => {
    const task = filesTask({
      body: async (context) => {
        world.repo.commitDirectly('main' as never, { 'orders/x.csv': '1' })
        world.repo.commitDirectly('main' as never, { 'orders/y.csv': '2' })
        return change(context)
      },
    })
    const { result, evidence } = await world.run(task)
    expect(result).toMatchObject({ status: 'FAILED_WITH_TERMINAL_ERROR', output: {} })
    expect(result.reasonForIncompletion).toContain('[fences/publish-refused]')
    expect(await stagingBranchesOf(world.repo.connect('test'))).toEqual([evidence?.stagingBranch])
    expect(result.logs?.join('\n')).toContain(`kept: staging branch "${evidence?.stagingBranch ?? ''}"`)
  })

  test('WK-23 a refused publication may be set to be tried again', async () => {
    const task = filesTask({
      body: async (context) => {
        world.repo.model.branches.delete('main' as never)
        return change(context)
      },
    })
    const { result } = await world.run(task, { publishRefused: 'FAILED' })
    expect(result.status).toBe('FAILED')
  })
})

describe('input', () => {
  test.each([
    ['no workspace', { params: { day: 'x' } }, 'worker/invalid-input'],
    ['wrong parameters', undefined, 'worker/invalid-params'],
  ])('WK-10 %s: terminal, and nothing was laid out', async (_, input, code) => {
    const { result } = await world.run(filesTask({ body: change }), {
      attempt: { input: input ?? { ...inputFor(world.inputRef), params: { day: 5 } } },
    })
    expect(result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
    expect(result.reasonForIncompletion).toContain(`[${code}]`)
    expect(world.steps).toEqual(['read-input'])
    expect(world.repo.calls).toEqual([])
  })

  test('WK-10 an input that the queue put aside: terminal', async () => {
    const { result } = await world.run(filesTask({ body: change }), {
      attempt: { input: {}, externalInputPath: 'somewhere' },
    })
    expect(result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
    expect(result.reasonForIncompletion).toContain('[worker/external-input]')
  })

  test('WK-04 the output answers in the spelling of the input', async () => {
    const input = {
      workspace: { repository: 'scripted', branch: 'main', ref_type: 'commit', ref: world.inputRef },
    }
    const { result } = await world.run(filesTask({ body: nothing }), {
      attempt: { input: { ...input, params: { day: 'x' } } },
    })
    expect(result.output).toMatchObject(input)
  })
})

describe('guardrails', () => {
  test('WK-12 a failed pre check is terminal, and the body does not run', async () => {
    let ran = false
    const task = filesTask({
      workspace: { prefix: 'orders', pre: [requireFile('missing.csv')] },
      body: () => {
        ran = true
        return nothing()
      },
    })
    const { result } = await world.run(task)
    expect(result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
    expect(ran).toBe(false)
  })

  test('F-10 a failed post check is FAILED before any fence, any staging and any publishing', async () => {
    const task = filesTask({
      workspace: { prefix: 'orders', post: [requireFile('missing.csv')] },
      body: change,
    })
    const { result } = await world.run(task)
    expect(result.status).toBe('FAILED')
    expect(world.steps.at(-1)).toBe('post-guardrails')
    expect(world.repo.calls.filter(({ writes }) => writes)).toEqual([])
  })
})

describe('read-only tasks', () => {
  const readOnly = { prefix: 'orders', readOnly: true }

  test('F-11 F-12 a read-only task passes no fence and writes nothing', async () => {
    let asked = 0
    const { result } = await world.run(filesTask({ workspace: readOnly, body: nothing }), {
      readFresh: () => {
        asked++
        return Promise.reject(new Error('no fence may ask'))
      },
    })
    expect(result.status).toBe('COMPLETED')
    expect(asked).toBe(0)
    expect(world.steps.filter((step) => step.startsWith('publish'))).toEqual([])
    expect(world.repo.calls.filter(({ writes }) => writes)).toEqual([])
  })

  test('F-13 F-14 a read-only task is an ordinary completion with the input ref as its output', async () => {
    const { result } = await world.run(filesTask({ workspace: readOnly, body: nothing }))
    expect(result).toMatchObject({
      status: 'COMPLETED',
      output: { workspace: { ref: world.inputRef }, result: { rows: 0 } },
    })
  })

  test('F-15 a read-only task gives the same result however often it runs and wherever the branch is', async () => {
    const task = filesTask({ workspace: readOnly, body: nothing })
    const first = await world.run(task)
    world.repo.commitDirectly('main' as never, { 'orders/x.csv': '1' })
    world.repo.commitDirectly('main' as never, { 'orders/y.csv': '2' })
    const second = await world.run(task)
    expect(second.result.output).toEqual(first.result.output)
    expect(second.result.status).toBe('COMPLETED')
  })

  test('WK-14 a read-only task that changed a file is FAILED, and the file is named', async () => {
    const { result } = await world.run(filesTask({ workspace: readOnly, body: change }))
    expect(result.status).toBe('FAILED')
    expect(result.reasonForIncompletion).toContain('orders/a.csv')
  })
})

describe('the body', () => {
  test('WK-13 an error is FAILED with its message and its code; the stack is in the log alone', async () => {
    const { result } = await world.run(
      filesTask({
        body: () => {
          throw new Error('no rows')
        },
      }),
    )
    expect(result.status).toBe('FAILED')
    expect(result.reasonForIncompletion).toMatch(
      /^the body failed: no rows \[task\/failed\]\. Look at run-attempt\.test\.ts:\d+\.$/,
    )
    expect(result.logs?.join('\n')).toContain('at ')
  })

  test('WK-13 TerminalError is terminal', async () => {
    const { result } = await world.run(
      filesTask({
        body: () => {
          throw new TerminalError('the supplier sent an empty file')
        },
      }),
    )
    expect(result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
  })

  test('WK-13 a result that is not what the schema says is FAILED', async () => {
    const { result } = await world.run(filesTask({ body: () => ({ rows: 1.5 }) }))
    expect(result.status).toBe('FAILED')
    expect(result.reasonForIncompletion).toContain('[worker/invalid-result]')
  })

  test('WK-144 a lease that is shorter than the publish budget is told in its log, and a read-only task needs none', async () => {
    const { result } = await world.run(filesTask({ body: change }), {
      attempt: { responseTimeoutSeconds: 10 },
    })
    expect(result.status).toBe('COMPLETED')
    expect(result.logs?.join('\n')).toMatch(
      /^warn: the lease of this attempt may end .* less than the response timeout of 10 s$/m,
    )
    for (const [task, responseTimeoutSeconds] of [
      [filesTask({ workspace: { prefix: 'orders', readOnly: true }, body: nothing }), 10],
      [filesTask({ body: nothing }), 60],
    ] as const) {
      const { result: quiet } = await world.run(task, { attempt: { responseTimeoutSeconds } })
      expect(quiet.logs?.join('\n')).not.toContain('lease')
    }
  })

  test('WK-19 what it logs goes into the log of the task, redacted, and no more than its end', async () => {
    const task = filesTask({
      body: ({ log }) => {
        for (let line = 1; line <= 300; line++) log.info(`line ${line} hunter2000`)
        log.debug('for the developer')
        return nothing()
      },
    })
    const { result } = await world.run(task, { redactor: createRedactor(['hunter2000']) })
    expect(result.logs).toHaveLength(201)
    expect(result.logs?.[0]).toMatch(/^\(\d+ earlier lines left out\)$/)
    expect(result.logs?.join('\n')).toContain('line 300 [redacted]')
    expect(result.logs?.join('\n')).not.toContain('for the developer')
  })

  test('WK-24 without a workspace: parameters in, result out', async () => {
    const task = defineTask({
      name: 'add',
      owner: OWNER,
      params: z.object({ a: z.number(), b: z.number() }),
      result: z.number(),
      body: ({ params }) => params.a + params.b,
    })
    const { result } = await world.run(task, { attempt: { input: { params: { a: 1, b: 2 } } } })
    expect(result).toMatchObject({ status: 'COMPLETED', output: { result: 3 } })
    expect(world.repo.calls).toEqual([])
  })
})

describe('an attempt that has to end', () => {
  test('WK-15 a lost lease aborts the body, bars the publication and says why', async () => {
    const lost = new AbortController()
    const seen: unknown[] = []
    const task = filesTask({
      body: async (context) => {
        context.signal.addEventListener('abort', () => seen.push(context.signal.reason))
        await change(context)
        lost.abort(
          new StaleAttemptError({ taskId: 't' } as never, [
            { field: 'workflow', expected: 'RUNNING', actual: 'TERMINATED' },
          ]),
        )
        // A body that does not listen.
        return { rows: 1 }
      },
    })
    const { result } = await world.run(task, { signal: lost.signal })
    expect(seen).toHaveLength(1)
    expect(result).toMatchObject({ status: 'FAILED', output: {} })
    expect(result.reasonForIncompletion).toContain('workflow is TERMINATED')
    expect(world.steps.at(-1)).toBe('body')
    expect(world.repo.head('main' as never)).toBe(world.inputRef)
  })

  test.each([
    ['publish/attempt-fence'],
    ['publish/open-staging'],
    ['publish/upload'],
    ['publish/verify-staging'],
  ])('WK-15 a lease that is lost after %s leaves the branch as it was', async (at) => {
    const lost = new AbortController()
    const { result } = await world.run(filesTask({ body: change }), {
      signal: lost.signal,
      observe: ({ step }) => {
        if (step === at) lost.abort(new WorkerAbandonedError('its parent is gone'))
      },
    })
    expect(result.status).toBe('FAILED')
    expect(world.repo.head('main' as never)).toBe(world.inputRef)
  })

  test.each([
    ['edited', (path: string) => writeFileSync(path, 'late'), 'a.csv'],
    ['added', (path: string) => writeFileSync(path, 'late'), 'late.csv'],
    ['removed', (path: string) => rmSync(path), 'a.csv'],
  ])(
    'WS-207 a file that is %s after the comparison fails the attempt, to be tried again',
    async (_how, act, name) => {
      let path = ''
      const body = async ({
        workspace,
      }: Pick<WorkspaceBodyContext<unknown>, 'workspace'>): Promise<{ rows: number }> => {
        await writeFile(workspace.path('changed.csv'), 'changed')
        path = workspace.path(name)
        return { rows: 1 }
      }
      const { result } = await world.run(filesTask({ body }), {
        observe: ({ step }) => {
          // What a program that the body left behind might do.
          if (step === 'publish/upload') act(path)
        },
      })
      expect(result).toMatchObject({ status: 'FAILED', output: {} })
      expect(result.reasonForIncompletion).toContain('workspace/still-changing')
      expect(result.reasonForIncompletion).toContain(name)
      expect(world.repo.head('main' as never)).toBe(world.inputRef)
    },
  )

  test('WK-72 at the deadline of a shutdown the task is handed back and loses no retry', async () => {
    const deadline = new AbortController()
    const task = filesTask({
      body: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')))
          deadline.abort(new WorkerStoppingError())
        }),
    })
    const { result } = await world.run(task, { signal: deadline.signal })
    expect(result).toMatchObject({ status: 'IN_PROGRESS', callbackAfterSeconds: 0, output: {} })
    expect(result.reasonForIncompletion).toBeUndefined()
  })

  test('WK-78 a process that may not act any more publishes nothing, however current the attempt is', async () => {
    const { result } = await world.run(filesTask({ body: change }), {
      assertMayAct: () => {
        throw new WorkerAbandonedError('the supervisor is gone')
      },
    })
    expect(result.status).toBe('FAILED')
    expect(world.repo.calls.filter(({ writes }) => writes)).toEqual([])
  })
})

describe('the end', () => {
  test('WK-16 an output the queue would not take is refused before anything is published', async () => {
    const { result } = await world.run(filesTask({ body: change }), {
      checkOutput: () => {
        throw new TerminalError('too large')
      },
    })
    expect(result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
    expect(world.repo.calls.filter(({ writes }) => writes)).toEqual([])
  })

  test('WK-17 clean-up removes directory and staging branch, and comes after the result', async () => {
    let dir = ''
    const task = filesTask({
      body: (context) => {
        dir = context.workspace.dir
        return change(context)
      },
    })
    const outcome = await world.run(task)
    expect(existsSync(dir)).toBe(true)
    expect(await stagingBranchesOf(world.repo.connect('test'))).toHaveLength(1)
    await outcome.cleanUp()
    expect(existsSync(dir)).toBe(false)
    expect(await stagingBranchesOf(world.repo.connect('test'))).toEqual([])
  })

  test('WK-17 trouble in clean-up changes nothing', async () => {
    const outcome = await world.run(filesTask({ body: change }))
    await rm(join(directory, 'trash'), { recursive: true })
    await writeFile(join(directory, 'trash'), 'in the way')
    await outcome.cleanUp()
    expect(outcome.result.status).toBe('COMPLETED')
    await rm(join(directory, 'trash'))
    expect(await readdir(directory)).toContain('workers')
  })

  test.each([
    ['createBranch', 'FAILED'],
    ['write', 'FAILED'],
    ['commit', 'FAILED'],
    ['log', 'FAILED'],
  ])('F-63 a repository that refuses %s is never a success', async (request, status) => {
    const failing = await openAttemptWorld(join(directory, 'failing'))
    const repo = new ScriptedRepo({
      script: {
        arrive: (call) => Promise.resolve(call.request === request ? 'refuse' : 'none'),
        answer: () => Promise.resolve(),
        later: () => undefined,
      },
    })
    const ref = repo.commitDirectly('main' as never, { 'orders/a.csv': 'a' })
    const { result } = await failing.run(filesTask({ body: change }), {
      openRepo: () => repo.connect('worker'),
      attempt: { input: inputFor(ref) },
    })
    expect(result).toMatchObject({ status, output: {} })
    expect(repo.head('main' as never)).toBe(ref)
    await failing.root.close()
  })

  test('F-63 a publication whose outcome is not known is FAILED, even when it took place', async () => {
    let merged = false
    const repo = new ScriptedRepo({
      script: {
        arrive: ({ request }) => {
          if (request === 'merge') merged = true
          return Promise.resolve(
            merged && request === 'log' ? 'refuse' : request === 'merge' ? 'lose-answer' : 'none',
          )
        },
        answer: () => Promise.resolve(),
        later: () => undefined,
      },
    })
    const ref = repo.commitDirectly('main' as never, { 'orders/a.csv': 'a' })
    const { result } = await world.run(filesTask({ body: change }), {
      openRepo: () => repo.connect('worker'),
      attempt: { input: inputFor(ref) },
    })
    expect(repo.head('main' as never)).not.toBe(ref)
    expect(result).toMatchObject({ status: 'FAILED', output: {} })
  })
})

describe('the claim as a reading', () => {
  const declared = { name: 'orders.count', owner: OWNER, params: z.object({}), result: z.number() }
  const noWorkspace = defineTask({ ...declared, body: () => 1 })

  test('WK-354 without a fence the poll that claimed the task is the last reading of it', async () => {
    const { result, currentAtMs } = await world.run(noWorkspace, {
      sinceMs: 17,
      attempt: { input: { params: {} } },
    })
    expect([result.status, currentAtMs]).toEqual(['COMPLETED', 17])
    // Given by somebody else's loop: nobody knows how old it is.
    expect((await world.run(noWorkspace, { attempt: { input: { params: {} } } })).currentAtMs).toBeUndefined()
  })

  test('WK-354 a fence reads later, and a failure has no reading in its favour', async () => {
    const published = await world.run(filesTask({ body: change }), { sinceMs: 17 })
    expect(published.currentAtMs).toBeGreaterThan(17)
    const failing = defineTask({
      ...declared,
      body: () => {
        throw new Error('no')
      },
    })
    const { result, currentAtMs } = await world.run(failing, {
      sinceMs: 17,
      attempt: { input: { params: {} } },
    })
    expect([result.status, currentAtMs]).toEqual(['FAILED', undefined])
  })
})
