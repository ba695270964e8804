import { expect, test } from 'vitest'

import { useEmbeddedLakefs } from '../../../../test/support/embedded-lakefs.ts'
import type { LakefsRequests } from '../../../../test/support/lakefs-requests.ts'

const lakefs = useEmbeddedLakefs({ limits: { hookMs: 1_500 } })

const FENCE = `
local want = action.commit.metadata["publish.expected_head"]
if want ~= nil then
  local seen = action.commit.parents[1]
  if seen ~= want then
    error("PUBLISH_FENCE_STALE head=" .. tostring(seen) .. " expected=" .. want)
  end
end`

function actionFile(on: string, script: string, more = ''): string {
  const indented = script.trim().replaceAll('\n', '\n        ')
  return `name: the action\non:\n  ${on}\nhooks:\n  - id: the_hook\n    type: lua\n${more}    properties:\n      script: |\n        ${indented}\n`
}

const ACTION = '_lakefs_actions/action.yaml'

/** A base on main, and a staged branch that carries the action file. */
async function staged(api: LakefsRequests, name: string, file: string, path = name): Promise<string> {
  await api.branch(name, 'main')
  await api.put(name, ACTION, file)
  await api.put(name, path)
  return api.commit(name, `staged ${name}`)
}

function expecting(head: string): object {
  return { metadata: { 'publish.expected_head': head } }
}

test('ES-71 a pre-merge hook of the source commit decides inside the update', async () => {
  const api = await lakefs.open()
  const base = await api.head('main')
  for (const name of ['s1', 's2']) await staged(api, name, actionFile('pre-merge: {}', FENCE))
  const zeros = '0'.repeat(64)

  const refused = await api.merge('s1', 'main', expecting(zeros))
  expect(refused.status).toBe(412)
  const { message } = refused.json as { message: string }
  expect(message).toMatch(
    /^update branch main: pre-merge hook aborted, run id '[0-9a-v]{20}': 1 error occurred:\n\t\* hook run id '0000_0000' failed on action 'the action' hook 'the_hook': action failed: runtime error: \[string "lua"\]:5: PUBLISH_FENCE_STALE /,
  )
  expect(message).toContain(`PUBLISH_FENCE_STALE head=${base} expected=${zeros}`)
  expect(await api.head('main')).toBe(base)

  const won = await api.merge('s1', 'main', expecting(base))
  expect(won.status).toBe(200)
  const reference = (won.json as { reference: string }).reference
  expect((await api.commitOf(reference)).parents[0]).toBe(base)
  expect((await api.merge('s2', 'main', expecting(base))).status).toBe(412)
  expect((await api.merge('s2', 'main')).status).toBe(200)
})

test('ES-71 squashed, forced, empty and one-sided merges run the hook too', async () => {
  const api = await lakefs.open()
  await staged(api, 's1', actionFile('pre-merge: {}', FENCE))
  const wrong = expecting('0'.repeat(64))
  for (const more of [
    { squash_merge: true },
    { allow_empty: true },
    { force: true },
    { strategy: 'source-wins' },
  ]) {
    expect((await api.merge('s1', 'main', { ...wrong, ...more })).status).toBe(412)
  }
})

test('ES-71 a file that only the destination has is not asked', async () => {
  const api = await lakefs.open()
  await api.branch('plain', 'main')
  await api.put('plain', 'x')
  await api.commit('plain', 'plain')
  await api.put('main', ACTION, actionFile('pre-merge: {}', FENCE))
  await api.commit('main', 'fence')
  expect((await api.merge('plain', 'main', expecting('0'.repeat(64)))).status).toBe(200)
})

test('ES-72 of many that expect the same head exactly one publishes', async () => {
  const api = await lakefs.open()
  const racers = [0, 1, 2, 3, 4, 5, 6, 7]
  for (const racer of racers) await staged(api, `p${String(racer)}`, actionFile('pre-merge: {}', FENCE))
  const expected = await api.head('main')
  const replies = await Promise.all(
    racers.map((racer) => api.merge(`p${String(racer)}`, 'main', expecting(expected))),
  )
  const statuses = replies.map((reply) => reply.status)
  expect([...statuses].sort((a, b) => a - b)).toEqual([200, 412, 412, 412, 412, 412, 412, 412])
  const winner = replies[statuses.indexOf(200)]?.json as { reference: string }
  expect(await api.head('main')).toBe(winner.reference)
  expect((await api.commitOf(winner.reference)).parents[0]).toBe(expected)
})

test('ES-73 an endless loop is refused at its deadline, and the server answers meanwhile', async () => {
  const api = await lakefs.open()
  const base = await api.head('main')
  await staged(api, 'loop', actionFile('pre-merge: {}', 'while true do end'))
  let isDone = false
  const merging = api.merge('loop', 'main').finally(() => {
    isDone = true
  })
  await api.need(200, 'GET', '~/branches/main')
  await api.put('main', 'uncommitted')
  await api.need(204, 'PUT', '~/branches/main', { json: { type: 'reset' } })
  expect(isDone).toBe(false)
  expect(await merging).toMatchObject({
    status: 412,
    json: { message: expect.stringContaining('it ran longer than 1500 ms and was ended') as string },
  })
  expect(await api.head('main')).toBe(base)
})

test.each([
  ['no YAML', 'a: [b'],
  ['empty', ''],
  ['an unknown event', actionFile('pre-nothing: {}', 'x()')],
  ['another action of the same name', undefined],
])(
  'ES-74 an action file that is %s stops every commit of its tree until it is mended',
  async (_, content) => {
    const api = await lakefs.open()
    const good = actionFile('post-merge: {}', 'print("x")')
    await api.branch('bad', 'main')
    await api.put('bad', ACTION, content ?? good)
    if (content === undefined) await api.put('bad', '_lakefs_actions/second.yaml', good)
    const head = await api.head('bad')
    const commit = () => api.send('POST', '~/branches/bad/commits', { json: { message: 'bad' } })
    expect((await commit()).status).toBe(500)
    expect((await commit()).status).toBe(500)
    expect(await api.head('bad')).toBe(head)
    await api.put('bad', ACTION, good.replace('the action', 'mended'))
    expect((await commit()).status).toBe(201)
  },
)

test.each([
  [
    'a webhook',
    'name: the action\non:\n  pre-merge:\nhooks:\n  - {id: hook, type: webhook, properties: {url: "http://x"}}',
    'webhook',
  ],
  [
    'a script from elsewhere',
    'name: the action\non:\n  pre-merge:\nhooks:\n  - {id: hook, type: lua, properties: {script_path: a.lua}}',
    'script_path',
  ],
  [
    'no script',
    'name: the action\non:\n  pre-merge:\nhooks:\n  - {id: hook, type: lua, properties: {}}',
    "'script' must be supplied",
  ],
  [
    'an event that is not run here',
    actionFile('pre-create-tag: {}', 'print(1)'),
    "this server does not run event 'pre-create-tag'",
  ],
  [
    'a condition that is not understood',
    actionFile('pre-merge: {}', 'print(1)', '    if: "1 == 1"\n'),
    'does not know the condition',
  ],
  ['a syntax error', actionFile('pre-merge: {}', 'this is not lua'), 'syntax error'],
])('ES-75 %s refuses the update, with the reason', async (_, file, reason) => {
  const api = await lakefs.open()
  await api.branch('s', 'main')
  await api.put('s', ACTION, file)
  const source = await api.send('POST', '~/branches/s/commits', { json: { message: 's' } })
  const reply = source.status === 201 ? await api.merge('s', 'main') : source
  expect(reply).toMatchObject({
    status: 412,
    json: { message: expect.stringContaining(reason) as string },
  })
})

test('ES-77 an action without hooks is no run', async () => {
  const api = await lakefs.open()
  await staged(api, 's1', 'name: the action\non:\n  pre-merge:\n')
  expect((await api.merge('s1', 'main')).status).toBe(200)
  expect((await api.need(200, 'GET', '~/actions/runs')).json).toMatchObject({ results: [] })
})

test('ES-76 a hook runs for the branches it names', async () => {
  const api = await lakefs.open()
  await staged(api, 's1', actionFile('pre-merge: { branches: [main, "release-*"] }', 'error("no")'))
  for (const [branch, status] of [
    ['release-1', 412],
    ['dev', 200],
  ] as const) {
    await api.branch(branch, 'main')
    expect((await api.merge('s1', branch)).status).toBe(status)
  }
  expect((await api.merge('s1', 'main')).status).toBe(412)
})

test('ES-77 runs are recorded with what the hooks printed', async () => {
  const api = await lakefs.open()
  await staged(
    api,
    's1',
    `name: two hooks\non:\n  pre-merge:\nhooks:\n  - {id: speaks, type: lua, properties: {script: 'print("said", args.word)', args: {word: hello}}}\n  - {id: fails, type: lua, properties: {script: 'error("no")'}}\n  - {id: skipped, type: lua, properties: {script: 'print("never")'}}\n  - {id: afterwards, type: lua, if: failure(), properties: {script: 'print("tidied")'}}\n`,
  )
  expect((await api.merge('s1', 'main')).status).toBe(412)
  const { json } = await api.need(200, 'GET', '~/actions/runs', { query: { branch: 'main' } })
  const [run] = (json as { results: { run_id: string }[] }).results
  expect(run).toMatchObject({ event_type: 'pre-merge', branch: 'main', status: 'failed' })
  expect((await api.need(200, 'GET', `~/actions/runs/${run?.run_id ?? ''}`)).json).toEqual(run)
  const hooks = await api.need(200, 'GET', `~/actions/runs/${run?.run_id ?? ''}/hooks`)
  expect(hooks.json).toMatchObject({
    results: [
      { hook_run_id: '0000_0000', hook_id: 'speaks', action: 'two hooks', status: 'completed' },
      { hook_run_id: '0000_0001', hook_id: 'fails', status: 'failed' },
      { hook_run_id: '0000_0002', hook_id: 'skipped', status: 'skipped' },
      { hook_run_id: '0000_0003', hook_id: 'afterwards', status: 'completed' },
    ],
  })
  const output = async (hook: string) =>
    (await api.need(200, 'GET', `~/actions/runs/${run?.run_id ?? ''}/hooks/${hook}/output`)).text
  expect(await output('0000_0000')).toBe('said\thello\n')
  expect(await output('0000_0001')).toContain('Error: action failed: runtime error: [string "lua"]:1: no')
  expect(await output('0000_0002')).toBe('')
  expect(await output('0000_0003')).toBe('tidied\n')
  expect((await api.send('GET', '~/actions/runs/none')).status).toBe(404)
  expect((await api.send('GET', `~/actions/runs/${run?.run_id ?? ''}/hooks/none/output`)).status).toBe(404)
  const others = await api.need(200, 'GET', '~/actions/runs', { query: { branch: 'other' } })
  expect(others.json).toMatchObject({ results: [] })
})

test('ES-78 a hook after the update changes nothing any more', async () => {
  const api = await lakefs.open()
  await staged(api, 's1', actionFile('post-merge: {}', 'error("too late")'))
  const merged = await api.merge('s1', 'main')
  expect(merged.status).toBe(200)
  expect(await api.head('main')).toBe((merged.json as { reference: string }).reference)
  await expect
    .poll(async () => (await api.need(200, 'GET', '~/actions/runs')).json, { timeout: 10_000 })
    .toMatchObject({ results: [{ event_type: 'post-merge', status: 'failed' }] })
})

test('ES-79 what a hook is told', async () => {
  const api = await lakefs.open()
  const base = await api.head('main')
  const said =
    'for _, k in ipairs({"event_type","branch_id","source_ref","merge_source","commit_id","repository_id","action_name","hook_id"}) do print(k, action[k]) end print(action.commit.message, #action.commit.parents, action.commit.metadata.k, username)'
  const source = await staged(api, 's1', actionFile('pre-merge: {}', said))
  const { json } = await api.merge('s1', 'main', { message: 'told', metadata: { k: 'v' } })
  const { reference } = json as { reference: string }
  const outputOf = async (event: string): Promise<string> => {
    const listed = await api.need(200, 'GET', '~/actions/runs')
    const runs = (listed.json as { results: { run_id: string; event_type: string }[] }).results
    const run = runs.find((candidate) => candidate.event_type === event)
    return (await api.need(200, 'GET', `~/actions/runs/${run?.run_id ?? ''}/hooks/0000_0000/output`)).text
  }
  expect(base).not.toBe(reference)
  expect(await outputOf('pre-merge')).toBe(
    [
      'event_type\tpre-merge',
      'branch_id\tmain',
      `source_ref\t${source}`,
      'merge_source\ts1',
      `commit_id\t${reference}`,
      `repository_id\t${api.repository}`,
      'action_name\tthe action',
      'hook_id\tthe_hook',
      'told\t2\tv\tadmin',
      '',
    ].join('\n'),
  )

  await api.branch('c', base)
  await api.put('c', ACTION, actionFile('pre-commit: {}', said))
  await api.commit('c', 'arms the hook')
  await api.put('c', 'x')
  await api.commit('c', 'committed', { metadata: { k: 'w' } })
  expect(await outputOf('pre-commit')).toContain(
    'event_type\tpre-commit\nbranch_id\tc\nsource_ref\tc\nmerge_source\t\n',
  )
  expect(await outputOf('pre-commit')).toContain('committed\t1\tw\tadmin')
})

test('ES-79 a pre-commit hook refuses a commit', async () => {
  const api = await lakefs.open()
  const guard = 'if action.commit.message == "bad" then error("no such message") end'
  await api.put('main', ACTION, actionFile('pre-commit: {}', guard))
  await api.commit('main', 'arms the hook')
  const head = await api.head('main')
  await api.put('main', 'x')
  const refused = await api.send('POST', '~/branches/main/commits', { json: { message: 'bad' } })
  expect(refused).toMatchObject({
    status: 412,
    json: {
      message: expect.stringMatching(/^pre-commit hook aborted, run id '.{20}': 1 error occurred/) as string,
    },
  })
  expect(await api.head('main')).toBe(head)
  await api.commit('main', 'good')
})
