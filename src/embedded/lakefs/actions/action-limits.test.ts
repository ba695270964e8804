import { expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { LakefsRequests, Reply } from '../../../../test/support/lakefs-requests.ts'
import {
  EMBEDDED_ACTION_FILE_MAX_BYTES,
  EMBEDDED_ACTION_FILES_MAX_BYTES,
  EMBEDDED_HOOKS_MAX,
} from '../../limits.ts'

const lakefs = useEmbeddedLakefs({ limits: { hookMs: 5_000, hookMemoryBytes: 32_000_000 } })

const hasty = useEmbeddedLakefs({ limits: { hookMs: 400 } })

const FOLDER = '_lakefs_actions'
const named = (name: string, more: string): string => `name: ${name}\non:\n  pre-commit:\n${more}`
const hook = (id: string, script: string): string =>
  `  - {id: ${id}, type: lua, properties: {script: ${JSON.stringify(script)}}}\n`

async function commitWith(api: LakefsRequests, files: readonly string[]): Promise<Reply> {
  for (const [index, file] of files.entries()) await api.put('main', `${FOLDER}/a${index}.yaml`, file)
  return api.send('POST', '~/branches/main/commits', { json: { message: 'm' } })
}

test('ES-134 an action file beyond 64 KiB stops the commit, and is not read', async () => {
  const api = await lakefs.open()
  const atLimit = named('full', '').padEnd(EMBEDDED_ACTION_FILE_MAX_BYTES, '#')
  expect(await commitWith(api, [`${atLimit}#`])).toMatchObject({
    status: 500,
    json: { message: 'parsing file _lakefs_actions/a0.yaml: it is larger than 65536 bytes' },
  })
  expect((await commitWith(api, [atLimit])).status).toBe(201)
})

test('ES-134 so are action files that are too large together', async () => {
  const api = await lakefs.open()
  const count = Math.ceil(EMBEDDED_ACTION_FILES_MAX_BYTES / EMBEDDED_ACTION_FILE_MAX_BYTES) + 1
  const files = Array.from({ length: count }, (_, index) =>
    named(`file ${index}`, '').padEnd(EMBEDDED_ACTION_FILE_MAX_BYTES, '#'),
  )
  expect(await commitWith(api, files)).toMatchObject({
    status: 500,
    json: { message: expect.stringContaining('together are larger than 262144 bytes') as string },
  })
})

test('ES-135 action files that take long to read are given up at the deadline, and the server answers meanwhile', async () => {
  const api = await hasty.open()
  const files = [0, 1, 2].map((file) => {
    const lines = Array.from({ length: 5_500 }, (_, line) => `k${line}: [a]`).join('\n')
    return named(`file ${file}`, `x${file}: 1\n${lines}`).slice(0, EMBEDDED_ACTION_FILE_MAX_BYTES)
  })
  let isDone = false
  const committing = commitWith(api, files).finally(() => {
    isDone = true
  })
  await expect.poll(() => hasty.server.faults.history.filter(({ status }) => status === 201).length).toBe(4)
  await api.need(200, 'GET', '~/branches/main')
  expect(isDone).toBe(false)
  expect(await committing).toMatchObject({
    status: 500,
    json: { message: 'parsing file _lakefs_actions/a0.yaml: it ran longer than 400 ms and was ended' },
  })
})

test('ES-135 a file that was read before is not read again, and a changed one is', async () => {
  const api = await lakefs.open()
  const refusing = named('guard', `hooks:\n${hook('guards', 'error("first")')}`)
  const message = (text: string) => expect.stringContaining(text) as string
  for (let time = 0; time < 2; time += 1)
    expect(await commitWith(api, [refusing])).toMatchObject({ json: { message: message('first') } })
  const changed = refusing.replace('first', 'second')
  expect(await commitWith(api, [changed])).toMatchObject({ json: { message: message('second') } })
})

test('ES-138 a refusal is short, whatever the hooks say, and so is what is kept of it', async () => {
  const api = await lakefs.open()
  const hooks = Array.from({ length: 8 }, (_, index) =>
    named(`action ${index}`, `hooks:\n${hook('shouts', 'error(string.rep("x", 10000000))')}`),
  )
  const reply = await commitWith(api, hooks)
  expect(reply.status).toBe(412)
  expect(reply.bytes.length).toBeLessThan(20_000)
  const { json } = await api.need(200, 'GET', '~/actions/runs')
  const [run] = (json as { results: { run_id: string }[] }).results
  const output = await api.need(200, 'GET', `~/actions/runs/${run?.run_id ?? ''}/hooks/0000_0000/output`)
  expect(output.bytes.length).toBeLessThan(5_000)
})

test('ES-134 more hooks than are run refuse the update', async () => {
  const api = await lakefs.open()
  const hooks = Array.from({ length: EMBEDDED_HOOKS_MAX + 1 }, (_, index) => hook(`h${index}h`, 'print(1)'))
  expect(await commitWith(api, [named('many', `hooks:\n${hooks.join('')}`)])).toMatchObject({
    status: 412,
    json: { message: expect.stringContaining('101 hooks apply, and only 100 are run') as string },
  })
})
