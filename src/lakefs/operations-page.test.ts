// The reference page is written from the tables: after a change run
// `npx vitest run src/lakefs/operations-page.test.ts -u`.
import { expect, test } from 'vitest'
import { HTTP_STATUS } from '../base/errors.ts'
import { STATUS_ROWS, TROUBLE_KIND } from './answers.ts'
import { OPERATIONS, operationRow, type ExpectedRefusal, type OperationName } from './operations.ts'

const MEANING: Readonly<Record<ExpectedRefusal, string>> = {
  missing: 'not there',
  exists: 'there already',
  conflict: 'conflict',
  'hook-refused': 'a hook refused',
  'nothing-or-dirty': 'nothing to do, or uncommitted changes: read which',
  'leads-nowhere': 'the expression leads nowhere',
}

function renderOperation(name: OperationName): string {
  const row = operationRow(name)
  const values = Object.entries(row.values).map(([status, value]) => `${status} ${MEANING[value!]}`)
  const read = row.class === 'safe' ? '–' : row.read
  return `| \`${name}\` | ${row.doing} | ${row.class} | ${row.done.join(', ')} | ${values.join('; ') || '–'} | ${read} |`
}

function renderPage(): string {
  const operations = Object.keys(OPERATIONS).map((name) => renderOperation(name as OperationName))
  const statuses = Object.entries(STATUS_ROWS).map(
    ([status, row]) => `| ${status} | ${row.kind} | \`${row.code}\` | ${row.next} |`,
  )
  return `# What is asked of lakeFS, and what its answers mean

This page is written from \`src/lakefs/operations.ts\` and \`src/lakefs/answers.ts\`, and a test holds the three together:
after a change run \`npx vitest run src/lakefs/operations-page.test.ts -u\`.

## Operations

- **safe**: reads only, or leaves nothing anybody can see. Repeated freely.
- **idempotent**: saying it twice is like saying it once. Repeated; when the last answer was lost as well, it ends
  \`uncertain\`.
- **look-before-repeat**: a repetition could do harm or lie. After it may have been received it is never repeated: it ends
  \`uncertain\`, and the error says what to read.

| operation | what it does | class | done | foreseen | read when the answer was lost |
|---|---|---|---|---|---|
${operations.join('\n')}

## Statuses an operation does not foresee

| status | kind | code | what to try |
|---|---|---|---|
${statuses.join('\n')}

Any other 4xx is \`lakefs/bad-request\`. Only what is \`unavailable\` was surely not done and is tried again, with jitter and
within a budget; a \`Retry-After\` is waited out, and after 429 and 503 fewer requests are sent side by side.

## Answers that need a second look

| answer | meaning | kind | code |
|---|---|---|---|
| 500 with \`predicate failed\` | somebody else changed the branch record first; nothing was done | unavailable | \`lakefs/contention\` |
| any other 5xx | for a safe operation | ${TROUBLE_KIND.safe} | \`lakefs/server-trouble\` |
| any other 5xx | for an operation that may have had an effect | ${TROUBLE_KIND['look-before-repeat']} | \`lakefs/server-trouble\` |
| 404 with \`invalid API endpoint\` | the server does not know the operation | invalid | \`lakefs/server-too-old\` |
| a redirect, or a refusal that is not JSON | something else answered | invalid | \`lakefs/not-lakefs\` |
| a success that cannot be read | for a safe operation: something else answered | invalid | \`lakefs/not-lakefs\` |
| a success that cannot be read | otherwise: it may have been done | uncertain | \`lakefs/unknown-answer\` |
| none: nothing could be sent | the server cannot be reached | unavailable | \`lakefs/unreachable\` |
| none after sending | for a safe operation | ${TROUBLE_KIND.safe} | \`lakefs/answer-lost\` |
| none after sending | for an operation that may have had an effect | ${TROUBLE_KIND['look-before-repeat']} | \`lakefs/answer-lost\` |

Both texts are hints only. When the server words them otherwise the careful verdict stands: \`uncertain\`, and \`missing\`.

What a kind means to a caller (HTTP status of the doors: ${Object.entries(HTTP_STATUS)
    .map(([kind, status]) => `${kind} ${status}`)
    .join(', ')}) is the same everywhere in perago.

## Bytes

| check | where | error |
|---|---|---|
| as many bytes as were promised | uploads, before the last byte is sent | \`lakefs/body-length\` |
| as many bytes as are stored | downloads, and the answer to an upload | \`lakefs/short-body\` |
| MD5 of the bytes against the checksum | both ways, where the server's block store is \`local\` or \`mem\` and nothing can be imported | \`lakefs/checksum-mismatch\` |

Object stores give checksums that may look like an MD5 and be none (encrypted objects, parts), so there only the length is
held against what arrives. Presigned addresses and parts are used where \`/config\` offers them; no credentials go to the
object store, and a presigned address appears in no error.
`
}

test('LC-13 the reference page shows these very tables', async () => {
  await expect(renderPage()).toMatchFileSnapshot('../../docs/reference/lakefs-operations.md')
})
