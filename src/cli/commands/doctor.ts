import { openLakefs } from '../../runtime/lakefs-connection.ts'
import { examineLakefs, type LakefsExamination } from '../../runtime/lakefs-examination.ts'
import { loadForCommand, loggerForCommand } from '../configured.ts'
import { PATIENCE, type ConfiguredOptions } from '../options.ts'
import { renderTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

/** Reaches the configured lakeFS and says what it is and what it can do. */
export async function examine(options: ConfiguredOptions, terminal: Terminal): Promise<void> {
  const loaded = await loadForCommand(options, terminal)
  const logger = await loggerForCommand(loaded, terminal)
  const client = openLakefs(loaded.configuration, { logger, retry: PATIENCE })
  try {
    const lakefs = await examineLakefs(client, { signal: terminal.stopSignal() })
    terminal.answer(options.json === true ? `${JSON.stringify({ lakefs }, undefined, 2)}\n` : render(lakefs))
  } finally {
    await client.close()
  }
}

function render(found: LakefsExamination): string {
  const { transfers } = found
  const presigned = transfers.presigned ? (transfers.multipart ? 'yes, large objects in parts' : 'yes') : 'no'
  return renderTable([
    ['lakeFS', found.endpoint],
    ['version', found.version],
    ['block store', found.blockstore],
    ['credentials', 'accepted'],
    ['answered in', `${found.answeredInMs} ms`],
    ['presigned transfers', presigned],
    ['downloads verified', transfers.checksumVerified ? 'by checksum and length' : 'by length'],
    ['branch moves', 'soft: read, decide, act (lakeFS has no conditional move)'],
  ])
}
