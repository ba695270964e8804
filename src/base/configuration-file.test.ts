import { expect, test } from 'vitest'
import { parseConfigurationFile } from './configuration-file.ts'
import { CONFIGURATION_DEPTH_MAX } from './limits.ts'

test.each([
  ['brackets', `store: ${'['.repeat(100_000)}`],
  ['braces', '{a: '.repeat(50_000)],
  ['lists in lists', '- '.repeat(50_000)],
])(
  'EN-584 a configuration file that is nested too deep is refused before it is parsed: %s',
  async (_, text) => {
    expect(await parseConfigurationFile(text)).toEqual({
      root: { kind: 'value', value: undefined, line: 1, column: 1 },
      problems: [{ line: 1, column: 1, message: `it is nested more than ${CONFIGURATION_DEPTH_MAX} deep` }],
    })
  },
)

test('EN-584 what is nested as deep as settings are is read', async () => {
  const { root, problems } = await parseConfigurationFile('a: { b: { c: [1, { d: 2 }] } }')
  expect([problems, root.kind]).toEqual([[], 'section'])
})
