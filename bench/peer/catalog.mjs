// Which files and which changes are compared.
const KIB = 1024
const MIB = 1024 * KIB

export const DATASETS = {
  small: { files: 10, sizeBytes: KIB },
  many: { files: 5_000, sizeBytes: 4 * KIB },
  // Eight of 128 MiB, the ninth of 1 MiB.
  large: { files: 9, sizeBytes: 128 * MIB, lastBytes: MIB },
}

/** `often`: many runs and their median; others: the best of the rounds. `tools`: also `lakectl local` and `cp -r`. */
export const ROWS = [
  row('small', '10 × 1 KiB, one changed', { dataset: 'small', change: 'one', often: true, tools: true }),
  row('read', '10 × 1 KiB, read-only', { dataset: 'small', task: 'read', change: 'none', often: true }),
  row('empty', '10 × 1 KiB, nothing changed', { dataset: 'small', change: 'none', often: true }),
  row('many', '5,000 × 4 KiB, one changed', { dataset: 'many', change: 'one', tools: true }),
  row('some', '5,000 × 4 KiB, 25 changed', { dataset: 'many', change: 'some', tools: true }),
  row('all', '5,000 × 4 KiB, all changed', { dataset: 'many', change: 'all', tools: true }),
  row('large', '8 × 128 MiB and 1 MiB, the 1 MiB changed', { dataset: 'large', change: 'last', tools: true }),
  row('patch', '8 × 128 MiB and 1 MiB, 1 MiB of one large file changed', {
    ...{ dataset: 'large', change: 'patch', tools: true },
  }),
]

function row(id, what, more) {
  return { id, what, task: 'write', often: false, tools: false, ...more }
}
