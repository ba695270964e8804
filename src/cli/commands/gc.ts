import { resolve } from 'node:path'
import { InvalidError } from '../../base/errors.ts'
import { repositoryName } from '../../base/ids.ts'
import { parseDuration } from '../../base/quantities.ts'
import { collectStaging } from '../../recovery/collect.ts'
import { collectDirectories, readStagingNotes, writeStagingNotes } from '../../runtime/collect-left.ts'
import { answer } from '../answers.ts'
import { WORK_ROOT, type ConfiguredOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'
import { overRecovery } from './recover.ts'

export interface CollectOptions extends ConfiguredOptions {
  readonly apply?: boolean
  readonly olderThan: string
  readonly unknownOlderThan: string
  readonly root?: string
}

export async function collect(
  repository: string,
  options: CollectOptions,
  terminal: Terminal,
): Promise<void> {
  const apply = options.apply === true
  const root = resolve(terminal.directory, options.root ?? WORK_ROOT.join('/'))
  const ages = {
    endedAgeMs: parseAge('--older-than', options.olderThan),
    unknownAgeMs: parseAge('--unknown-older-than', options.unknownOlderThan),
  }
  const name = repositoryName(repository)
  const found = await overRecovery(options, terminal, async (world) => {
    const notes = await readStagingNotes(root, name)
    const branches = await collectStaging(world, { repository: name, ...ages, apply, notes })
    await writeStagingNotes(root, name, branches.notes)
    const { logger, signal } = world
    return { branches, directories: await collectDirectories(root, { apply, logger, signal }) }
  })
  const { due, removed, kept } = found.branches
  const { due: dueDirectories, kept: keptDirectories } = found.directories
  answer(
    terminal,
    options,
    { applied: apply, branches: { due, removed, kept }, directories: found.directories },
    () => {
      const act = apply ? 'removed' : 'would remove'
      const lines = [
        ...due.map((branch) => `branch ${branch}`),
        ...dueDirectories.map((token) => `directory ${token}`),
      ]
      const kept_ = `kept ${kept} staging branches and ${keptDirectories.length} directories`
      return `${[...lines.map((line) => `${act} ${line}`), kept_].join('\n')}\n`
    },
  )
}

function parseAge(option: string, text: string): number {
  const ms = parseDuration(text)
  if (ms !== undefined) return ms
  throw new InvalidError('cli/bad-usage', `read ${option} ${JSON.stringify(text)}: it is not a duration`, {
    next: 'Write a number and a unit, such as 5m, 12h or 7d.',
  })
}
