// Writes `operations.md` from the tables: after a change run
// `npx vitest run src/lakefs/operations-page.test.ts -u`.
import { expect, test } from 'vitest'
import type { FailureRow, OperationRow } from '../remote/server-table.ts'
import { LAKEFS, OPERATIONS, type OperationName } from './operations.ts'

const MEANING: Readonly<Record<string, string>> = {
  missing: 'not found',
  exists: 'already exists',
  conflict: 'conflict',
  'hook-refused': 'refused by a hook',
  'nothing-or-dirty': 'nothing to do, or uncommitted changes: read to tell them apart',
  'leads-nowhere': 'the ref expression names nothing',
}

function renderOperation(name: OperationName): string {
  const row: OperationRow = OPERATIONS[name]
  const values = Object.entries(row.values ?? {}).map(([status, value]) => `${status} ${MEANING[value!]}`)
  const read = row.class === 'safe' ? '–' : row.read
  const { done = LAKEFS.done } = row
  const repeated = row.isSentOnce === true ? `${row.class}, sent once` : row.class
  return `| \`${name}\` | ${row.doing} | ${repeated} | ${done.join(', ')} | ${values.join('; ') || '–'} | ${read} |`
}

function renderKind({ kind, mayBeDone }: FailureRow): string {
  return mayBeDone === true ? `${kind}; \`uncertain\` where something may have been done` : kind
}

function renderPage(): string {
  const operations = Object.keys(OPERATIONS).map((name) => renderOperation(name as OperationName))
  const statuses = Object.entries(LAKEFS.statuses).map(
    ([status, row]) => `| ${status} | ${renderKind(row)} | \`${row.code}\` | ${row.next} |`,
  )
  return `# Requests to lakeFS, and what each response means

Written from \`operations.ts\`; after a change run \`npx vitest run src/lakefs/operations-page.test.ts -u\`.

## Operations

- **safe**: reads only, or changes nothing that others can see. Retried.
- **idempotent**: doing it twice has the same result as doing it once. Retried; if the last response is lost too, the error is
  \`uncertain\`.
- **look-before-repeat**: doing it twice could do harm. Once the server may have received it, it is never retried: the error is
  \`uncertain\` and names what to read.
- **sent once**: what it depends on may have changed by the next try. It is not sent again whatever the answer; the publication
  reads and decides again.

| operation | what it does | class | success | other expected statuses | what to read when the response was lost |
|---|---|---|---|---|---|
${operations.join('\n')}

## Other statuses

| status | kind | code | what to try |
|---|---|---|---|
${statuses.join('\n')}

Any other 4xx is \`lakefs/bad-request\`. Only \`unavailable\` is retried: nothing was done. Retries have jitter and a budget and
respect \`Retry-After\`; after 429 and 503 fewer requests are sent in parallel.

## Responses that need more than the status

| response | meaning | kind | code |
|---|---|---|---|
| 500 with \`predicate failed\` | another writer changed the branch first; nothing was done | unavailable | \`lakefs/contention\` |
| any other 5xx | to a safe operation | unavailable | \`lakefs/server-trouble\` |
| any other 5xx | to an operation that may have had an effect | uncertain | \`lakefs/server-trouble\` |
| 404 with \`invalid API endpoint\` | the server does not know the operation | invalid | \`lakefs/server-too-old\` |
| 404 to \`/config\`, \`/config/version\` or \`/repositories\` | this is not lakeFS, which always has them | invalid | \`lakefs/not-lakefs\` |
| a redirect, or a 4xx other than \`{"message": …}\` (401, 408, 423 and 429 may come from a proxy; a conflict of a merge is \`{"reference": …}\`) | this is not lakeFS | invalid | \`lakefs/not-lakefs\` |
| a success that cannot be parsed | to a safe operation: this is not lakeFS | invalid | \`lakefs/not-lakefs\` |
| a success that cannot be parsed | otherwise: it may have been done | uncertain | \`lakefs/unknown-answer\` |
| none: nothing could be sent | the server cannot be reached | unavailable | \`lakefs/unreachable\` |
| none after sending | to a safe operation | unavailable | \`lakefs/answer-lost\` |
| none after sending | to an operation that may have had an effect | uncertain | \`lakefs/answer-lost\` |

Both texts are hints only: if a server words them differently, the result is \`uncertain\` or \`missing\`.

## Bytes

| check | where | error |
|---|---|---|
| as many bytes as announced | uploads, before the last byte is sent | \`lakefs/body-length\` |
| as many bytes as stored | downloads, and the response to an upload | \`lakefs/short-body\` |
| MD5 of the bytes equals the checksum | uploads and downloads, if the block store is \`local\` or \`mem\` and imports are off | \`lakefs/checksum-mismatch\` |

The checksum of an object store can look like an MD5 without being one (encrypted objects, multi-part uploads), so there only the
length is checked. Presigned addresses and parts are used if \`/config\` offers them. The object store gets no lakeFS
credentials, and no error shows a presigned address.
`
}

test('LC-13 operations.md shows these tables', async () => {
  await expect(renderPage()).toMatchFileSnapshot('./operations.md')
})
