// Goal: a body ends when it is told to, for certain, wherever it runs; and whatever it does there is told here.
// Threads and processes load the package as it was built: `npm run build` comes first.
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { keepingLogger, OWNER } from '../../../test/support/worker/world.ts'
import { COMMAND_STDERR_TAIL_CHARS } from '../limits.ts'
import { WorkerStoppingError } from '../../tasks/author-errors.ts'
import { loadTasks } from './load-tasks.ts'
import type { JsonObject } from '../../base/json.ts'
import {
  defineCommandTask,
  defineTask,
  type CommandTaskInput,
  type TaskDefinition,
} from '../../tasks/task-definition.ts'
import type { RunBodyOptions } from './hosted-body.ts'
import { openBodyWorkspace } from './body-workspace.ts'
import { runBody } from './run-body.ts'
import { catchStrayErrors } from './stray-errors.ts'

const modulePath = fileURLToPath(new URL('../../../test/support/worker/bodies.mjs', import.meta.url))
const attempt = {
  taskId: 't',
  workflowId: 'w',
  taskName: 'n',
  referenceName: 'r',
  retryCount: 1,
  iteration: 0,
}
const places = ['thread', 'process'] as const

let scratch: string
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'perago-body-'))
})
afterEach(() => rm(scratch, { recursive: true, force: true }))

interface Begun {
  readonly result: Promise<unknown>
  readonly lines: string[]
  readonly progress: unknown[]
  readonly abort: (reason: Error) => void
  readonly shutdown: () => void
}

function begin(task: TaskDefinition, params: JsonObject = {}, more: Partial<RunBodyOptions> = {}): Begun {
  const { logger, lines } = keepingLogger()
  const [stop, hurry] = [new AbortController(), new AbortController()]
  const progress: unknown[] = []
  const result = runBody({
    task,
    modulePath,
    params,
    attempt,
    workspace: undefined,
    scratch,
    signal: stop.signal,
    shutdown: hurry.signal,
    log: logger,
    onProgress: (...told) => progress.push(told),
    ...more,
  })
  // Whoever begins a body looks at its end later.
  result.catch(() => undefined)
  return {
    result,
    lines,
    progress,
    abort: (reason) => stop.abort(reason),
    shutdown: () => hurry.abort(new Error('stop')),
  }
}

async function named(name: string): Promise<TaskDefinition> {
  const task = (await loadTasks(modulePath)).find((candidate) => candidate.name === name)
  if (task === undefined) throw new Error(`there is no task ${name}`)
  return task
}

async function until(happened: () => boolean): Promise<void> {
  await expect.poll(happened, { timeout: 25_000, interval: 10 }).toBe(true)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A process that has ended and was not asked for its status is no more alive.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

describe.each(places)('in a %s', (place) => {
  test('WK-80 parameters go in, the result, log lines, prints and progress come out', async () => {
    const { result, lines, progress } = begin(await named(`echo.${place}`), {
      day: 'x',
      deep: [1, { a: null }],
    })
    expect(await result).toEqual({ params: { day: 'x', deep: [1, { a: null }] }, attempt })
    expect(lines).toContain('hello')
    expect(progress).toEqual([[1, 2, 'half']])
    await until(() => lines.includes('printed'))
  })

  test('WK-80 a result of a megabyte arrives whole', async () => {
    const { result } = begin(await named(`large.${place}`), { chars: 1_000_000 })
    expect(await result).toHaveLength(1_000_000)
  })

  test.each([0, 3])(
    'WK-81 a body that exits with status %i is told at once, with where it did',
    async (status) => {
      const { result } = begin(await named(`exit.${place}`), { status })
      await expect(result).rejects.toMatchObject({
        code: 'worker/body-exited',
        message: `the body called process.exit(${status})`,
        next: expect.stringMatching(/ at bodies\.mjs:\d+\.$/) as string,
      })
    },
  )

  test.each([
    ['crash', 'out of nowhere'],
    ['forgets', 'nobody waited'],
  ])(
    'WK-322 an error that nobody catches is told at once, with where it was thrown: %s',
    async (name, what) => {
      await expect(begin(await named(`${name}.${place}`)).result).rejects.toMatchObject({
        code: 'task/failed',
        message: `the body failed where nobody awaits it: ${what}`,
        next: expect.stringMatching(/^Await it.* at bodies\.mjs:\d+\.$/) as string,
        hostStack: expect.stringContaining('bodies.mjs') as string,
      })
    },
  )

  test('WK-82 what the body throws keeps kind, code, message and details; the stack stays apart', async () => {
    await expect(begin(await named(`fails.${place}`), { terminal: true }).result).rejects.toMatchObject({
      kind: 'invalid',
      code: 'task/terminal',
      message: 'for good',
      details: { line: 3 },
    })
    const other = await begin(await named(`fails.${place}`)).result.catch((error: unknown) => error)
    expect(other).toMatchObject({ code: 'task/failed', message: 'the body failed: no rows' })
    expect((other as { hostStack: string }).hostStack).toContain('bodies.mjs')
  })

  test('WK-83 a body that listens ends by itself when it is told to, and hears why', async () => {
    const [begun, ended] = [join(scratch, 'begun'), join(scratch, 'ended')]
    const { result, abort } = begin(await named(`listens.${place}`), { begun, ended })
    await until(() => existsSync(begun))
    abort(new WorkerStoppingError())
    await expect(result).rejects.toBeInstanceOf(WorkerStoppingError)
    expect(await readFile(ended, 'utf8')).toContain('the worker had to stop')
  })

  test('WK-83 a body is told of a shutdown and may finish', async () => {
    const begun = join(scratch, 'begun')
    const { result, shutdown } = begin(await named(`listens.${place}`), { begun })
    await until(() => existsSync(begun))
    shutdown()
    expect(await result).toBe('told')
  })

  test('WK-84 a body that never yields is ended', async () => {
    const begun = join(scratch, 'begun')
    const { result, abort } = begin(await named(`spin.${place}`), { begun })
    await until(() => existsSync(begun))
    abort(new WorkerStoppingError())
    await expect(result).rejects.toBeInstanceOf(WorkerStoppingError)
  })
})

describe('processes', () => {
  test('WK-85 what a body has started ends with it', async () => {
    const begun = join(scratch, 'begun')
    const { result, abort } = begin(await named('family'), { begun })
    await until(() => existsSync(begun) && readFileSync(begun, 'utf8') !== '')
    const grandchild = Number(readFileSync(begun, 'utf8'))
    expect(isAlive(grandchild)).toBe(true)
    abort(new WorkerStoppingError())
    await expect(result).rejects.toBeInstanceOf(WorkerStoppingError)
    await until(() => !isAlive(grandchild))
  })

  test('WK-85 what a body leaves behind when it returns ends, too', async () => {
    const pid = (await begin(await named('leaves-child')).result) as number
    await until(() => !isAlive(pid))
  })
})

describe('here', () => {
  describe('in a process that catches what nobody catches', () => {
    const others: unknown[] = []
    let release: () => void
    beforeEach(() => {
      others.length = 0
      // Those of the test runner would fail the run.
      const events = ['uncaughtException', 'unhandledRejection'] as const
      const runners = events.map((event) => [event, process.rawListeners(event)] as const)
      for (const event of events) process.removeAllListeners(event)
      const stop = catchStrayErrors((error) => others.push(error))
      release = () => {
        stop()
        for (const [event, listeners] of runners)
          for (const listener of listeners) process.on(event, listener as () => void)
      }
    })
    afterEach(() => release())

    const failLater = async (): Promise<void> => {
      await Promise.resolve()
      throw new Error('lost')
    }

    test.each<[string, () => unknown, object]>([
      [
        'a promise that is not awaited',
        () => {
          failLater() // eslint-disable-line @typescript-eslint/no-floating-promises -- that is the point
        },
        { message: 'the body failed where nobody awaits it: lost' },
      ],
      [
        'a throw in a timer',
        () => {
          setTimeout(() => {
            throw new Error('late')
          })
          return new Promise<never>(() => undefined)
        },
        { message: 'the body failed where nobody awaits it: late' },
      ],
      ['process.exit', (): unknown => process.exit(3), { code: 'worker/body-exited' }],
    ])('WK-323 the body that it comes from fails, and the process goes on: %s', async (_, body, expected) => {
      const told: unknown[] = []
      const { result, abort } = begin(task(body), {}, { onStray: (error) => told.push(error) })
      await until(() => told.length > 0)
      expect(told[0]).toMatchObject({
        ...expected,
        next: expect.stringMatching(/ at run-body\.test\.ts:\d+\.$/) as string,
      })
      abort(new WorkerStoppingError())
      await result.catch(() => undefined)
      expect(others).toEqual([])
    })

    test('WK-323 what comes from no body is not blamed on one', async () => {
      const running = begin(
        task(() => new Promise(() => undefined)),
        {},
        { onStray: () => undefined },
      )
      setTimeout(() => {
        throw new Error('of somebody else')
      })
      await until(() => others.length > 0)
      running.abort(new WorkerStoppingError())
    })
  })

  const task = (body: Parameters<typeof defineTask>[0]['body']): TaskDefinition =>
    defineTask({ name: 'here', owner: OWNER, params: z.any(), result: z.any(), body })

  test('WK-86 a body that ignores its signal is left behind', async () => {
    const { result, abort } = begin(task(() => new Promise(() => undefined)))
    abort(new WorkerStoppingError())
    await expect(result).rejects.toBeInstanceOf(WorkerStoppingError)
  })

  test('WK-86 a body elsewhere needs to know its module', async () => {
    const { result } = begin(await named('echo.thread'), {}, { modulePath: undefined })
    await expect(result).rejects.toMatchObject({ code: 'worker/no-module' })
  })

  test('WK-87 a path that leads out of the workspace is refused', () => {
    const workspace = openBodyWorkspace({
      dir: scratch,
      repository: 'r',
      branch: 'b',
      ref: 'c',
      isReadOnly: false,
    })
    expect(workspace.path('a', 'b.csv')).toBe(join(scratch, 'a/b.csv'))
    expect(workspace.path()).toBe(scratch)
    for (const outside of [['..'], ['a', '../../b'], [`../${scratch.split('/').at(-1) ?? ''}x`]])
      expect(() => workspace.path(...outside)).toThrow(
        expect.objectContaining({ code: 'worker/outside-workspace' }),
      )
  })
})

describe('commands', () => {
  const node = (script: string, more: Partial<CommandTaskInput<z.ZodAny, z.ZodAny>> = {}): TaskDefinition =>
    defineCommandTask({
      name: 'program',
      owner: OWNER,
      params: z.any(),
      result: z.any(),
      command: [process.execPath, '-e', script],
      ...more,
    })
  const facts = (): RunBodyOptions['workspace'] => ({
    dir: scratch,
    repository: 'data',
    branch: 'main',
    ref: 'abc',
    isReadOnly: false,
  })

  test('WK-88 parameters on stdin, in a variable and in a file; the result from the named file', async () => {
    const script = `
      const { readFileSync, writeFileSync } = require('node:fs')
      const { PERAGO_PARAMS, PERAGO_PARAMS_FILE, PERAGO_RESULT_FILE, OWN, ...env } = process.env
      const ways = [readFileSync(0, 'utf8'), PERAGO_PARAMS, readFileSync(PERAGO_PARAMS_FILE, 'utf8')].map(JSON.parse)
      // Not what the run of the tests was started with: PERAGO_SIMULATION_RUNS and others.
      const inherited = ${JSON.stringify(process.env)}
      const isNew = ([name, value]) => name.startsWith('PERAGO_') && inherited[name] !== value
      const about = Object.entries(env).filter(isNew).sort()
      console.log('one\\ntwo')
      writeFileSync(PERAGO_RESULT_FILE, JSON.stringify({ ways, about, OWN, cwd: process.cwd() }))`
    const { result, lines } = begin(
      node(script, { env: { OWN: 'yes' } }),
      { day: 'x' },
      { workspace: facts() },
    )
    expect(await result).toEqual({
      ways: [{ day: 'x' }, { day: 'x' }, { day: 'x' }],
      about: [
        ['PERAGO_BRANCH', 'main'],
        ['PERAGO_REF', 'abc'],
        ['PERAGO_REPOSITORY', 'data'],
        ['PERAGO_RETRY_COUNT', '1'],
        ['PERAGO_TASK_ID', 't'],
        ['PERAGO_TASK_NAME', 'n'],
        ['PERAGO_WORKFLOW_ID', 'w'],
        ['PERAGO_WORKSPACE', scratch],
      ],
      OWN: 'yes',
      cwd: scratch,
    })
    expect(lines).toEqual(['one', 'two'])
  })

  test('WK-88 the result from stdout, with everything else on stderr in the log', async () => {
    const task = node(`console.error('working'); console.log(JSON.stringify({ rows: 3 }))`, {
      resultFrom: 'stdout',
    })
    const { result, lines } = begin(task)
    expect(await result).toEqual({ rows: 3 })
    expect(lines).toEqual(['working'])
  })

  test('WK-88 parameters too large for a variable still come by stdin', async () => {
    const script = `let text = ''
      process.stdin.on('data', (chunk) => (text += chunk)).on('end', () =>
        console.log(JSON.stringify([JSON.parse(text).long.length, process.env.PERAGO_PARAMS === undefined])))`
    const { result } = begin(node(script, { resultFrom: 'stdout' }), { long: 'x'.repeat(2_000_000) })
    expect(await result).toEqual([2_000_000, true])
  })

  const ends: readonly [string, string, object][] = [
    [
      'a status',
      `console.error('bad day'); process.exit(3)`,
      { code: 'task/retryable', message: /status 3: bad day/ },
    ],
    ['the status of bad data', 'process.exit(65)', { code: 'task/terminal', kind: 'invalid' }],
    [
      'a signal',
      `process.kill(process.pid, 'SIGKILL')`,
      { code: 'task/retryable', message: /signal SIGKILL/ },
    ],
    ['no result', '', { code: 'worker/no-result', kind: 'missing' }],
    [
      'no JSON',
      `require('fs').writeFileSync(process.env.PERAGO_RESULT_FILE, '{')`,
      { code: 'worker/invalid-result' },
    ],
    [
      'a result that is too large',
      `require('fs').writeFileSync(process.env.PERAGO_RESULT_FILE, Buffer.alloc(10485761, 32))`,
      { code: 'worker/result-too-large' },
    ],
  ]
  test.each(ends)('WK-89 a program that ends with %s', async (_, script, expected) => {
    const error = (await begin(node(script)).result.catch((thrown: unknown) => thrown)) as Error
    const { message, ...others } = expected as { message?: RegExp }
    expect(error).toMatchObject(others)
    if (message !== undefined) expect(error.message).toMatch(message)
  })

  test('WK-89 a program that is not there', async () => {
    await expect(begin(node('', { command: ['no-such-program-here'] })).result).rejects.toMatchObject({
      code: 'worker/command-not-started',
    })
  })

  test('WK-89 of a long stderr the end is quoted, and only that is kept', async () => {
    const script = `process.stderr.write('x'.repeat(${COMMAND_STDERR_TAIL_CHARS * 2}) + '\\nthe end\\n', () => process.exit(1))`
    const error = (await begin(node(script)).result.catch((thrown: unknown) => thrown)) as Error
    expect(error.message).toMatch(/status 1: the end$/)
  })

  test('WK-85 a program ends when it is told to, with what it has started', async () => {
    const begun = join(scratch, 'begun')
    const script = `
      const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)'])
      require('node:fs').writeFileSync(${JSON.stringify(begun)}, String(child.pid))
      process.on('SIGTERM', () => 0)
      setInterval(() => 0, 1000)`
    const { result, abort } = begin(node(script))
    await until(() => existsSync(begun) && readFileSync(begun, 'utf8') !== '')
    const grandchild = Number(readFileSync(begun, 'utf8'))
    abort(new WorkerStoppingError())
    await expect(result).rejects.toBeInstanceOf(WorkerStoppingError)
    await until(() => !isAlive(grandchild))
  })

  /** A program that ends at once and leaves something running that holds its pipes. */
  const leaving = (child: string, how: object, end: string): TaskDefinition =>
    node(
      `const child = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(child)}],
        { stdio: ['inherit', 'inherit', 'inherit', 'pipe'], ...${JSON.stringify(how)} })
      // Once it listens to signals.
      child.stdio[3].once('data', () => {
        console.error(String(child.pid))
        ${end}
      })`,
      { resultFrom: 'stdout' },
    )

  test('WK-260 what a program leaves running is asked to end, then killed, and does not hold the attempt', async () => {
    const asked = join(scratch, 'asked')
    const child = `process.on('SIGTERM', () => require('node:fs').writeFileSync(${JSON.stringify(asked)}, ''))
      setInterval(() => console.error('still here'), 100)
      require('node:fs').writeSync(3, 'x')`
    const { result, lines } = begin(leaving(child, {}, 'console.log(7); process.exit(0)'))
    expect(await result).toBe(7)
    expect(existsSync(asked)).toBe(true)
    expect(lines).toContain('still here')
    expect(lines).toContain('the program has ended, but something it started still runs: it is ended, too')
    await until(() => !isAlive(Number(lines[0])))
  })

  test('WK-260 the status of a program counts, not that of what it left running', async () => {
    const child = `setInterval(() => 0, 1000); require('node:fs').writeSync(3, 'x')`
    const { result, lines } = begin(leaving(child, {}, 'process.exit(65)'))
    await expect(result).rejects.toMatchObject({ code: 'task/terminal' })
    await until(() => !isAlive(Number(lines[0])))
  })

  test('WK-261 what a program moved to a session of its own does not hold the attempt', async () => {
    const child = `setInterval(() => 0, 1000); require('node:fs').writeSync(3, 'x')`
    const { result, lines } = begin(leaving(child, { detached: true }, 'console.log(7); process.exit(0)'), {
      // More than a pipe takes: it also holds the input that nobody reads.
      long: 'x'.repeat(200_000),
    })
    onTestFinished(() => {
      process.kill(Number(lines[0]), 'SIGKILL')
    })
    expect(await result).toBe(7)
  })

  test('WK-88 a program in another language', async () => {
    const script = join(scratch, 'rows.sh')
    await writeFile(script, 'cat > "$PERAGO_RESULT_FILE"\n')
    expect(await begin(node('', { command: ['sh', script] }), { rows: 7 }).result).toEqual({ rows: 7 })
  })
})
