/** How commands answer: one JSON document, or text for people. */

import { printableJson } from '../base/one-line.ts'
import type { Terminal } from './terminal.ts'

/** The document with `--json`, else the text. */
export function answer(
  terminal: Terminal,
  options: { readonly json?: boolean },
  document: unknown,
  text: () => string,
): void {
  terminal.answer(options.json === true ? `${printableJson(document, 2)}\n` : text())
}

/** Rows in aligned columns, two spaces apart, without trailing spaces. */
export function renderTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}
