import { expect, test } from 'vitest'

import { readText } from '../../../../test/support/source-tree.ts'
import { OPERATIONS, type Operation } from './operations.ts'

const PAGE = 'docs/reference/embedded-lakefs.md'

/** One row for each path, with what its methods are called. */
function renderTable(): string {
  const methods = new Map<string, string[]>()
  for (const [name, { method, path }] of Object.entries<Operation>(OPERATIONS)) {
    const shown = `${method === '*' ? 'other methods' : `\`${method}\``} ${name}`
    methods.set(path, [...(methods.get(path) ?? []), shown])
  }
  const rows = [...methods].map(([path, names]) => `| \`${path}\` | ${names.join(', ')} |`)
  return ['| path | operations |', '|---|---|', ...rows].join('\n')
}

test('ES-88 the reference page lists every operation with its method and path', async () => {
  const marked = /(<!-- operations -->\n)[\s\S]*(<!-- \/operations -->)/
  const page = readText(PAGE).replace(
    marked,
    (_, start: string, end: string) => `${start}\n${renderTable()}\n\n${end}`,
  )
  expect(page).toContain(renderTable())
  await expect(page).toMatchFileSnapshot(`../../../../${PAGE}`)
})
