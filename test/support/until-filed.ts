import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, vi } from 'vitest'

/** Small objects of the embedded server get files of their own after they were answered: waits for that. */
export async function untilFiled(dataDir: string): Promise<void> {
  const directory = join(dataDir, 'incoming')
  await vi.waitFor(
    () => {
      const names = existsSync(directory) ? readdirSync(directory) : []
      expect(names.filter((name) => statSync(join(directory, name)).size > 0)).toEqual([])
    },
    { timeout: 10_000, interval: 10 },
  )
}
