// Quantiles and Markdown tables.

export function quantile(samples, share) {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Three significant figures. */
export function round(value) {
  if (value === undefined || Number.isNaN(value)) return '–'
  if (Math.abs(value) >= 100) return value.toFixed(0)
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** The first row names the columns; all but the first column are figures. */
export function printTable(head, rows) {
  console.log(`| ${head.join(' | ')} |`)
  console.log(
    `|---|${head
      .slice(1)
      .map(() => '---:|')
      .join('')}`,
  )
  for (const row of rows) {
    console.log(`| ${row.map((cell) => (typeof cell === 'number' ? round(cell) : cell)).join(' | ')} |`)
  }
  console.log('')
}
