// Writes `operations.md` from the table, and lists what every status means for every class.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { classifyAnswer, classifyBreak, type Answer, type OperationRow } from '../remote/server-table.ts'
import { CONDUCTOR, OPERATIONS, type OperationName } from './operations.ts'

const NAMES = Object.keys(OPERATIONS) as OperationName[]
const CLASSES = ['safe', 'idempotent', 'look-before-repeat'] as const
const rowOf = (name: OperationName): OperationRow => OPERATIONS[name]

function answer(status: number, retryable?: boolean): Answer {
  const json = retryable === undefined ? undefined : { status, message: 'said so', retryable }
  return {
    status,
    contentType: 'application/json',
    text: json === undefined ? '' : JSON.stringify(json),
    json,
  }
}

const TROUBLE: readonly (readonly [string, Answer])[] = [
  ['5xx with `retryable: false`', answer(500, false)],
  ['5xx with `retryable: true`', answer(500, true)],
  ['5xx of a proxy, such as 502, 503, 504', answer(503)],
  ['3xx, or another status below 400', answer(302)],
]

const BREAKS = [
  ['no response, nothing was sent', { sent: false, how: 'dropped' }],
  ['no response: cut or timed out', { sent: true, how: 'timeout' }],
  ['a response that is not HTTP', { sent: true, how: 'not-http' }],
] as const

/** One operation of each class speaks for all of it. */
const OF_CLASS = { safe: 'getTask', idempotent: 'updateTaskDef', 'look-before-repeat': 'updateTask' } as const

function renderPage(): string {
  const cell = (verdict: { kind: string; code: string }): string => `${verdict.kind}, \`${verdict.code}\``
  const said = (operation: OperationName, given: Answer): string => {
    const verdict = classifyAnswer(CONDUCTOR, operation, given)
    return verdict.is === 'error' ? cell(verdict.failure) : verdict.is
  }
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const operations = NAMES.map((name) => {
    const row = rowOf(name)
    const repeated = row.isPacedByCaller ? 'never: the caller decides when' : repetitionOf(row)
    const on404 = row.values?.[404] === 'missing' ? 'not found' : 'wrong endpoint'
    return line([`\`${name}\``, row.doing, row.class, repeated, on404, 'read' in row ? row.read : '–'])
  })
  const statuses = Object.entries(CONDUCTOR.statuses)
    .filter(([status]) => status !== '404')
    .map(([status, row]) => line([status, row.kind, `\`${row.code}\``, row.next]))
  const trouble = TROUBLE.map(([what, given]) =>
    line([what, ...CLASSES.map((name) => said(OF_CLASS[name], given))]),
  )
  const breaks = BREAKS.map(([what, broken]) =>
    line([what, ...CLASSES.map((name) => cell(classifyBreak(CONDUCTOR, OF_CLASS[name], broken)))]),
  )
  return `# Requests to Conductor, and what each response means

Written from \`operations.ts\`; after a change run \`npx vitest run src/conductor/operations.test.ts -u\`.

## Operations

- **safe**: reads only. Retried.
- **idempotent**: doing it twice has the same result as doing it once. Retried; if the last response is lost too, the error is
  \`uncertain\`.
- **look-before-repeat**: doing it twice could do harm. Retried only if it certainly did not arrive; otherwise the error is
  \`uncertain\` and names what to read.

| operation | what it does | class | retried by the client | on 404 | what to read when the response was lost |
|---|---|---|---|---|---|
${operations.join('\n')}

Conductor answers an update with 200 whether it accepted it or not. To know whether a result counted, read the task.

## Responses

A success is 200 or 204 with the body of the operation, not a proxy's page. A 404 means "not found" only if it has Conductor's
own format and does not mention a route; otherwise it is \`conductor/not-conductor\`. So is a 400 in another format.

| status | kind | code | next |
|---|---|---|---|
${statuses.join('\n')}

| | safe | idempotent | look-before-repeat |
|---|---|---|---|
${[...trouble, ...breaks].join('\n')}

Conductor sends 500 with \`retryable: false\` for malformed requests, and in every other case seen, as when its database is away.
A write is then \`uncertain\`: the server may have stored the result and failed later.

A result is refused only by Conductor itself: what a proxy or a missing route answers to \`updateTask\` is \`uncertain\`.
`
}

const repetitionOf = (row: OperationRow): string =>
  row.isSentOnce ? 'never: the caller reads before each sending' : REPEATED[row.class]

const REPEATED = {
  safe: 'yes',
  idempotent: 'yes',
  'look-before-repeat': 'only if it certainly did not arrive',
} as const

test('CO-60 operations.md shows the tables of the code', async () => {
  await expect(renderPage()).toMatchFileSnapshot('./operations.md')
})

test.each(NAMES)(
  'CO-60 no answer to %s other than a success counts as one, whatever the status',
  (operation) => {
    for (let status = 201; status < 600; status += 1) {
      if (status === 204) continue
      for (const given of [answer(status), answer(status, false), answer(status, true)]) {
        const verdict = classifyAnswer(CONDUCTOR, operation, given)
        expect(verdict.is).not.toBe('done')
        if (verdict.is === 'value') expect([status, given.json === undefined]).toEqual([404, false])
        // Nothing that may have been done is ever called undone.
        const isUndone = verdict.is === 'error' && verdict.failure.kind === 'unavailable'
        if (isUndone && rowOf(operation).class !== 'safe') expect([408, 429]).toContain(status)
      }
    }
  },
)

test.each(NAMES)('CO-60 %s is sent as the contract says', (name) => {
  const contract = parse(readFileSync(new URL('../../openapi/conductor.yaml', import.meta.url), 'utf8')) as {
    paths: Record<string, Record<string, { operationId?: string } | undefined> | undefined>
  }
  const { method, path } = rowOf(name)
  const described = contract.paths[path]?.[method.toLowerCase()]?.operationId
  expect(described).toBe(name === 'extendLease' ? 'updateTask' : name)
})
