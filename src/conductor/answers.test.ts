// The reference page is written from the tables that are in force, and lists what every status means for every class.
import { expect, test } from 'vitest'
import { classifyAnswer, classifyBreak, STATUS_ROWS, type Answer } from './answers.ts'
import { OPERATIONS, operationRow, type OperationName } from './operations.ts'

const NAMES = Object.keys(OPERATIONS) as OperationName[]
const CLASSES = ['safe', 'idempotent', 'look-before-repeat'] as const

const answer = (status: number, retryable?: boolean): Answer => ({
  status,
  refusal: retryable === undefined ? undefined : { message: 'said so', isRetryable: retryable },
})

const TROUBLE: readonly (readonly [string, Answer])[] = [
  ['5xx with `retryable: false`', answer(500, false)],
  ['5xx with `retryable: true`', answer(500, true)],
  ['5xx of somebody else, such as 502, 503, 504', answer(503)],
  ['3xx, or another status below 400', answer(302)],
]

const BREAKS = [
  ['no answer, nothing was sent', { sent: false, how: 'dropped' }],
  ['no answer: cut or timed out', { sent: true, how: 'timeout' }],
  ['an answer that is not HTTP', { sent: true, how: 'not-http' }],
] as const

/** One operation of each class speaks for all of it. */
const OF_CLASS = { safe: 'getTask', idempotent: 'updateTaskDef', 'look-before-repeat': 'updateTask' } as const

function renderPage(): string {
  const cell = (verdict: { kind: string; code: string }): string => `${verdict.kind}, \`${verdict.code}\``
  const said = (operation: OperationName, given: Answer): string => {
    const verdict = classifyAnswer(operation, given)
    return verdict.is === 'error' ? cell(verdict) : verdict.is
  }
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  const operations = NAMES.map((name) => {
    const row = operationRow(name)
    const repeated = row.isPacedByCaller ? 'never: its caller has a rhythm of his own' : REPEATED[row.class]
    const on404 = row.on404 === 'missing' ? 'not there' : 'wrong endpoint'
    return line([`\`${name}\``, row.doing, row.class, repeated, on404, 'read' in row ? row.read : '–'])
  })
  const statuses = Object.entries(STATUS_ROWS).map(([status, row]) =>
    line([status, row.kind, `\`${row.code}\``, row.next]),
  )
  const trouble = TROUBLE.map(([what, given]) =>
    line([what, ...CLASSES.map((name) => said(OF_CLASS[name], given))]),
  )
  const breaks = BREAKS.map(([what, broken]) =>
    line([what, ...CLASSES.map((name) => cell(classifyBreak(OF_CLASS[name], broken)))]),
  )
  return `# What is asked of Conductor, and what its answers mean

This page is written from \`src/conductor/operations.ts\` and \`src/conductor/answers.ts\`, and a test holds the three together:
after a change run \`npx vitest run src/conductor/answers.test.ts -u\`.

## Operations

- **safe**: reads only. Repeated freely.
- **idempotent**: saying it twice is like saying it once. Repeated; when the last answer was lost as well, it ends
  \`uncertain\`.
- **look-before-repeat**: a repetition could do harm or lie. After it may have been received it is never repeated: it ends
  \`uncertain\`, and the error says what to read. What surely did not arrive is sent again.

| operation | what it does | class | repeated here | on 404 | read when the answer was lost |
|---|---|---|---|---|---|
${operations.join('\n')}

An update is answered 200 whether it counted or not. The only proof that a result counted is the task, read afterwards.

## Answers

A success is 200 or 204 with the body the operation answers; a page of a proxy is none. A 404 means "not there" when it comes
in Conductor's own shape and does not speak of a route; anything else is \`conductor/not-conductor\`.

| status | kind | code | next |
|---|---|---|---|
${statuses.join('\n')}

| | safe | idempotent | look-before-repeat |
|---|---|---|---|
${[...trouble, ...breaks].join('\n')}

Conductor answers 500 with \`retryable: false\` to malformed requests, and the flag was false in every other case seen as well.
A write is \`uncertain\` then: the server may have stored the result and failed on what comes after it.
`
}

const REPEATED = {
  safe: 'yes',
  idempotent: 'yes',
  'look-before-repeat': 'only when it surely did not arrive',
} as const

test('CO-60 the reference page shows the tables that are in force', async () => {
  await expect(renderPage()).toMatchFileSnapshot('../../docs/reference/conductor-operations.md')
})

test.each(NAMES)(
  'CO-60 no answer to %s other than a success counts as one, whatever the status',
  (operation) => {
    for (let status = 201; status < 600; status += 1) {
      if (status === 204) continue
      for (const given of [answer(status), answer(status, false), answer(status, true)]) {
        const verdict = classifyAnswer(operation, given)
        expect(verdict.is).not.toBe('done')
        if (verdict.is === 'missing') expect([status, given.refusal === undefined]).toEqual([404, false])
        // Nothing that may have been done is ever called undone.
        if (
          verdict.is === 'error' &&
          verdict.kind === 'unavailable' &&
          operationRow(operation).class !== 'safe'
        )
          expect([408, 429]).toContain(status)
      }
    }
  },
)
