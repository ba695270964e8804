// Goal: no configured secret leaves a task in its result, whatever its body is, and nothing else is taken for one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { logOf } from '../../../test/support/publication-world.ts'
import { MAIN, openAttemptWorld, OWNER, type AttemptWorld } from '../../../test/support/worker/world.ts'
import type { Json } from '../../base/json.ts'
import { createRedactor } from '../../base/redaction.ts'
import {
  defineCommandTask,
  defineTask,
  defineWorkspaceTask,
  type TaskDefinition,
} from '../../tasks/task-definition.ts'
import { loadTasks } from '../bodies/load-tasks.ts'
import { SECRET_FIELDS_SHOWN } from '../limits.ts'
import type { AttemptOutcome } from './run-attempt.ts'
import { withholdSecrets } from './withhold-secrets.ts'

const SECRET = 'very-secret/value+1'
const NUMBER = 987_654_321
const redactor = createRedactor([SECRET, String(NUMBER)])

const withhold = (
  result: Json,
  secretResults?: 'redact',
): { readonly result: Json; readonly told: string[] } => {
  const told: string[] = []
  const warn = (message: string): void => void told.push(message)
  return { result: withholdSecrets(result, { redactor, secretResults, of: 'task "t"', warn }), told }
}

describe('a result with a configured secret in it', () => {
  test.each<[string, Json, string]>([
    ['by itself', SECRET, 'result'],
    ['within a text', { connection: { url: `https://key:${SECRET}@host/` } }, 'result.connection.url'],
    ['in an array', { rows: [1, { token: SECRET }] }, 'result.rows[1].token'],
    ['percent-encoded', { url: `https://host/?k=${encodeURIComponent(SECRET)}` }, 'result.url'],
    ['in base64', { header: Buffer.from(`key:${SECRET}`).toString('base64') }, 'result.header'],
    ['as JSON within a text', { log: JSON.stringify({ key: SECRET.replace('/', '\\/') }) }, 'result.log'],
    ['as a number', { port: NUMBER }, 'result.port'],
    ['as a key', { [`of ${SECRET}`]: 1 }, 'result'],
    ['below a key that is one', { [SECRET]: { a: SECRET } }, 'result, result.[redacted].a'],
  ])('WK-289 is refused with the path of the field and without the secret: %s', (_, result, fields) => {
    const refuse = (): unknown => withhold(result)
    expect(refuse).toThrow(
      expect.objectContaining({
        code: 'worker/secret-in-result',
        message: `read the result of task "t": a configured secret is in ${fields}`,
      }),
    )
    expect(refuse).toThrow(/^(?!.*very-secret|.*987654321).*$/)
  })

  test('WK-289 many fields are counted, and only some are named', () => {
    const rows = Array.from({ length: SECRET_FIELDS_SHOWN + 2 }, () => SECRET)
    expect(() => withhold(rows)).toThrow(/result\[9\] and 2 more$/)
  })

  test('WK-290 it is redacted where that is configured, and only the secret', () => {
    const given = { url: `https://key:${SECRET}@host/`, port: NUMBER, [SECRET]: true, rows: [1, null] }
    const { result, told } = withhold(given, 'redact')
    expect(result).toEqual({
      ...{ url: 'https://key:[redacted]@host/', port: '[redacted]', '[redacted]': true, rows: [1, null] },
    })
    expect(told).toEqual(['a configured secret was redacted in result.url, result.port, result'])
  })

  test('WK-291 what only looks like a secret stays as it is', () => {
    const result = {
      password: 'x',
      url: 'https://me:word@host/?token=abcdefgh',
      auth: 'Bearer abcdefghijklmnopqrst',
      n: 5,
    }
    expect(withhold(result)).toEqual({ result, told: [] })
    expect(withhold(result, 'redact')).toEqual({ result, told: [] })
  })
})

let world: AttemptWorld
let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-secrets-'))
  world = await openAttemptWorld(directory)
})
afterEach(async () => {
  await world.root.close()
  await rm(directory, { recursive: true, force: true })
})

const any = { name: 'orders.leak', owner: OWNER, params: z.object({ text: z.string() }), result: z.any() }
const BODIES_PATH = fileURLToPath(new URL('../../../test/support/worker/bodies.mjs', import.meta.url))

async function bodyNamed(name: string): Promise<TaskDefinition> {
  const task = (await loadTasks(BODIES_PATH)).find((each) => each.name === name)
  if (task === undefined) throw new Error(`no task ${name}`)
  return task
}

const BODIES: Readonly<Record<string, () => TaskDefinition | Promise<TaskDefinition>>> = {
  'a function': () => defineTask({ ...any, body: ({ params }) => ({ params }) }),
  'a function in a thread': () => bodyNamed('echo.thread'),
  'a function in a process': () => bodyNamed('echo.process'),
  'a program': () =>
    defineCommandTask({
      ...any,
      command: ['sh', '-c', 'printf \'{"params": %s}\' "$PERAGO_PARAMS"'],
      resultFrom: 'stdout',
    }),
  'a program in another language': () =>
    defineCommandTask({
      ...any,
      command: [
        'python3',
        '-c',
        'import json, os; json.dump({"params": json.load(open(0))}, open(os.environ["PERAGO_RESULT_FILE"], "w"))',
      ],
    }),
}

const run = (task: TaskDefinition, more = {}): Promise<AttemptOutcome> =>
  world.run(task, {
    ...{ redactor, modulePath: BODIES_PATH, ...more },
    attempt: { input: { params: { text: `it is ${SECRET}` } } },
  })

test.each(Object.keys(BODIES))('WK-292 the rule holds for %s', async (name) => {
  const task = await BODIES[name]!()
  const refused = await run(task)
  expect(refused.result).toMatchObject({ status: 'FAILED_WITH_TERMINAL_ERROR', output: {} })
  expect(refused.result.reasonForIncompletion).toMatch(/result\.params\.text.*\[worker\/secret-in-result\]/)
  const redacted = await run(task, { secretResults: 'redact' })
  expect(redacted.result).toMatchObject({
    status: 'COMPLETED',
    output: { result: { params: { text: 'it is [redacted]' } } },
  })
  expect(redacted.result.logs?.join('\n')).toContain(
    'warn: a configured secret was redacted in result.params.text',
  )
  expect(JSON.stringify([refused.result, redacted.result])).not.toContain(SECRET)
})

const writing = defineWorkspaceTask({
  ...{ ...any, params: z.unknown(), workspace: { prefix: 'orders' } },
  body: async ({ workspace }) => {
    await writeFile(workspace.path('a.csv'), 'changed')
    return { key: SECRET }
  },
})

test('WK-294 with a workspace nothing is published of a result that is refused', async () => {
  const refused = await world.run(writing, { redactor })
  expect(refused.result.status).toBe('FAILED_WITH_TERMINAL_ERROR')
  expect(world.repo.head(MAIN)).toBe(world.inputRef)
  expect(world.repo.calls.filter(({ writes }) => writes)).toEqual([])
})

test('WK-294 what is recorded with a publication is the redacted result', async () => {
  const redacted = await world.run(writing, { redactor, secretResults: 'redact' })
  expect(redacted.result.output).toMatchObject({ result: { key: '[redacted]' } })
  const [head] = await logOf(world.repo.connect('test'))
  expect(JSON.stringify(head?.metadata)).toContain('[redacted]')
  expect(JSON.stringify(head)).not.toContain(SECRET)
})
