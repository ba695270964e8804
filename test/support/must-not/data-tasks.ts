// Tasks whose bodies do to their files what must not harm the branch.
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { defineWorkspaceTask, maxFiles, requireFile, type BodyWorkspace } from '../../../src/perago.ts'

type Act = (workspace: BodyWorkspace) => void

const declare = (
  name: string,
  act: Act,
  workspace: Partial<Parameters<typeof defineWorkspaceTask>[0]['workspace']> = {},
): ReturnType<typeof defineWorkspaceTask> =>
  defineWorkspaceTask({
    name,
    owner: 'data@example.org',
    params: z.object({ begun: z.string().optional() }),
    result: z.null(),
    workspace: { prefix: 'data', ...workspace },
    controls: { retry: { delaySeconds: 0, jitterMs: 0 } },
    body: ({ workspace: files, params: { begun } }) => {
      if (begun !== undefined) writeFileSync(begun, '')
      act(files)
      return null
    },
  })

export const sweepTree = declare('sweep-tree', ({ dir }) => rmSync(dir, { recursive: true }))
export const sweepAttempt = declare('sweep-attempt', ({ dir }) => rmSync(dirname(dir), { recursive: true }))

export const touch = declare('touch', (files) => {
  utimesSync(files.path('touched.bin'), 1, 1)
  writeFileSync(files.path('rewritten.bin'), readFileSync(files.path('rewritten.bin')))
  writeFileSync(files.path('changed.bin'), 'other')
})

export const marker = declare(
  'marker',
  (files) => {
    for (const name of ['.perago-attempt.json', 'deep/.perago-attempt.json', 'attempt.json'])
      writeFileSync(files.path(name), `${readFileSync(files.path(name), 'utf8')} and more`)
    writeFileSync(files.path('deep/new.perago-attempt.json'), 'new')
  },
  { pre: [maxFiles(3), requireFile('.perago-attempt.json')], post: [maxFiles(4)] },
)

export const empty = declare('empty', () => undefined, { pre: [maxFiles(0)], post: [maxFiles(0)] })

export const idle = declare('idle', () => undefined)

export const write = declare('write', (files) => {
  writeFileSync(files.path('new.txt'), 'new')
  writeFileSync(files.path('in.txt'), 'changed')
  rmSync(files.path('old.txt'))
})

export const writeAround = declare(
  'write-around',
  (files) => writeFileSync(files.path('in.txt'), 'changed'),
  {
    exclude: ['**/', 'a//**', 'p/**'],
  },
)

export const backslash = declare('backslash', (files) => {
  writeFileSync(files.path('a\\b.txt'), readFileSync(files.path('a\\b.txt'), 'utf8').toUpperCase())
  writeFileSync(files.path('c\\d.txt'), 'new')
})

/** As many bytes, at once after the lay-out, and with the time the file had. */
export const sameSize = declare('same-size', (files) => {
  const { atime, mtime } = statSync(files.path('in.txt'))
  writeFileSync(files.path('in.txt'), 'IN')
  utimesSync(files.path('in.txt'), atime, mtime)
})
