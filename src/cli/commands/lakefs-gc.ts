import { resolve } from 'node:path'
import { formatSize } from '../../base/quantities.ts'
import { collectGarbage, type GarbageReport } from '../../embedded/lakefs/engine/garbage.ts'
import { EMBEDDED_DATA_DIR, type DataOptions } from '../options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

/** Removes what nothing in the data directory refers to, and says how much that was. */
export async function removeGarbage(
  options: DataOptions & { readonly dryRun?: boolean },
  terminal: Terminal,
): Promise<void> {
  const dataDir = resolve(terminal.directory, options.data ?? EMBEDDED_DATA_DIR)
  const report = await collectGarbage(dataDir, { dryRun: options.dryRun ?? false })
  answer(terminal, options, report, () => render(report))
}

function render(report: GarbageReport): string {
  const removed = report.dryRun ? 'would be removed' : 'removed'
  return renderTable([
    [
      'objects',
      `${report.objectsRemoved} ${removed} (${formatSize(report.objectBytesRemoved)})`,
      `${report.objectsKept} kept`,
    ],
    [
      'tree nodes',
      `${report.nodesRemoved} ${removed} (${formatSize(report.nodeBytesRemoved)})`,
      `${report.nodesKept} kept`,
    ],
    ['addresses', `${report.addressesRemoved} ${removed}`],
  ])
}
