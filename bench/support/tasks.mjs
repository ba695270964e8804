// The tasks of the benches: bodies do little, so that the rest is visible.
import { open, readdir, writeFile } from 'node:fs/promises'
import { defineWorkspaceTask } from 'perago'
import { z } from 'zod'
import { contentOf, pathOf } from './contents.mjs'

const PATCH_BYTES = 1024 * 1024

const params = z.object({
  /** `one`, `all`: these files get new content of the same size; `patch`: the first MiB of one; `none`: nothing. */
  change: z.enum(['one', 'all', 'patch', 'none']),
  seed: z.string(),
  files: z.number(),
  sizeBytes: z.number(),
})

const common = { owner: 'bench@example.org', params, result: z.object({ files: z.number() }) }

export const write = defineWorkspaceTask({
  ...common,
  name: 'perago_bench_write',
  workspace: { prefix: 'data' },
  async body({ workspace, params: { change, seed, files, sizeBytes } }) {
    const count = change === 'all' ? files : change === 'one' ? 1 : 0
    for (let index = 0; index < count; index++)
      await writeFile(workspace.path(pathOf(index)), contentOf(seed, pathOf(index), sizeBytes))
    if (change === 'patch') {
      const file = await open(workspace.path(pathOf(0)), 'r+')
      try {
        await file.write(contentOf(seed, pathOf(0), PATCH_BYTES), 0, PATCH_BYTES, 0)
      } finally {
        await file.close()
      }
    }
    return { files: count }
  },
})

export const read = defineWorkspaceTask({
  ...common,
  name: 'perago_bench_read',
  workspace: { prefix: 'data', readOnly: true },
  async body({ workspace }) {
    const entries = await readdir(workspace.dir, { recursive: true, withFileTypes: true })
    return { files: entries.filter((entry) => entry.isFile()).length }
  },
})
