// The tasks of the benches: bodies do little, so that the rest is visible. They write as those of the other sides do.
import { mkdirSync, writeFileSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { defineTask, defineWorkspaceTask } from 'perago'
import { z } from 'zod'
import { changedBy, contentOf, pathOf } from './contents.mjs'

const PATCH_BYTES = 1024 * 1024

const params = z.object({
  /**
   * `one`, `some` (25), `all`, `last`: these files get new content of the given size; `patch`: the first MiB of one;
   * `none`: nothing.
   */
  change: z.enum(['one', 'some', 'all', 'last', 'patch', 'none']),
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
    const changed = changedBy(change, files)
    for (const path of changed.map(pathOf)) {
      if (change === 'patch') await patch(workspace.path(path), contentOf(seed, path, PATCH_BYTES))
      else writeFileSync(workspace.path(path), contentOf(seed, path, sizeBytes))
    }
    return { files: changed.length }
  },
})

/** Fills a workspace that is empty: the first run over a directory of somebody. */
export const fill = defineWorkspaceTask({
  ...common,
  name: 'perago_bench_fill',
  workspace: { prefix: 'data' },
  body({ workspace, params: { seed, files, sizeBytes } }) {
    const paths = Array.from({ length: files }, (_, index) => pathOf(index))
    for (const folder of new Set(paths.map((path) => dirname(path))))
      mkdirSync(workspace.path(folder), { recursive: true })
    for (const path of paths) writeFileSync(workspace.path(path), contentOf(seed, path, sizeBytes))
    return { files }
  },
})

export const noop = defineTask({
  name: 'perago_bench_noop',
  owner: common.owner,
  params: z.object({ seed: z.string() }),
  result: z.object({ seed: z.string() }),
  body: ({ params: { seed } }) => ({ seed }),
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

async function patch(path, bytes) {
  const file = await open(path, 'r+')
  try {
    await file.write(bytes, 0, bytes.length, 0)
  } finally {
    await file.close()
  }
}
