import { resolve } from 'node:path'
import { RefusedError } from '../../base/errors.ts'
import { oneLine } from '../../base/one-line.ts'
import { formatSize } from '../../base/quantities.ts'
import type { Damage } from '../../embedded/lakefs/engine/fsck-damage.ts'
import { checkDataDir, type FsckReport } from '../../embedded/lakefs/engine/fsck.ts'
import { answer, renderTable } from '../answers.ts'
import { EMBEDDED_DATA_DIR, type DataOptions } from '../options.ts'
import type { Terminal } from '../terminal.ts'

/** Reads everything in the data directory. Ends with exit code 3 where something is damaged or missing. */
export async function checkData(options: DataOptions, terminal: Terminal): Promise<void> {
  const dataDir = resolve(terminal.directory, options.data ?? EMBEDDED_DATA_DIR)
  const report = await checkDataDir(dataDir)
  answer(terminal, options, report, () => render(report))
  const count = report.damages.length + report.damagesLeftOut
  if (count === 0) return
  const [first] = report.damages
  throw new RefusedError('cli/data-damaged', `check ${dataDir}: ${String(count)} damages were found`, {
    details: { dataDir, damages: count },
    next: first?.next ?? 'Restore the data directory from a copy.',
  })
}

function render(report: FsckReport): string {
  const { objects, objectBytes, commits, treeNodes, damages, damagesLeftOut } = report
  const sums = renderTable([
    ['objects', `${String(objects)} read (${formatSize(objectBytes)})`],
    ['commits', `${String(commits)} read`],
    ['tree nodes', `${String(treeNodes)} read`],
    ['damages', damages.length === 0 ? 'none' : String(damages.length + damagesLeftOut)],
  ])
  const more = damagesLeftOut === 0 ? '' : `… and ${String(damagesLeftOut)} more\n`
  return `${sums}${damages.map(renderDamage).join('')}${more}`
}

function renderDamage(damage: Damage): string {
  const { repository, branch, tag, commit, path } = damage
  const ref = branch ?? (tag === undefined ? undefined : `tag ${tag}`)
  const where = [
    ...(repository === undefined ? [] : [ref === undefined ? repository : `${repository}/${ref}`]),
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
    ...(damage.isUncommitted === true ? ['uncommitted'] : []),
    ...(path === undefined ? [] : [JSON.stringify(path)]),
  ].join(' ')
  return `\n${where === '' ? damage.kind : where}: ${oneLine(damage.what)}\n  ${damage.file}\n  ${damage.next}\n`
}
