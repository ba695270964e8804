// Adding a public name is a promise and losing one a break: either shows here as a changed line in public-api.md.
// `npx vitest run test/types -u` writes the list anew.
import { expect, test } from 'vitest'
import { readText } from '../support/source-tree.ts'
import { listExports } from '../support/type-check.ts'

type Exports = Readonly<Record<string, string | { readonly types: string }>>

test('HO-16 the public names of every entry are the listed ones', async () => {
  const { name, exports } = JSON.parse(readText('package.json')) as { name: string; exports: Exports }
  const entries = Object.entries(exports).flatMap(([entry, target]) =>
    typeof target === 'string' || !('types' in target)
      ? []
      : [
          {
            entry: name + entry.slice(1),
            source: target.types.replace('./dist/', 'src/').replace('.d.ts', '.ts'),
          },
        ],
  )
  const found = listExports(entries.map(({ source }) => source))
  const pages = entries.map(({ entry, source }) => {
    const { values, types } = found.get(source) ?? { values: [], types: [] }
    const list = (names: readonly string[]): string[] => names.map((exported) => `- \`${exported}\``)
    return [`## \`${entry}\``, '', 'Values:', '', ...list(values), '', 'Types:', '', ...list(types), ''].join(
      '\n',
    )
  })
  const list = ['# Public names', '', ...pages].join('\n')
  await expect(list).toMatchFileSnapshot('public-api.md')
}, 60_000)
