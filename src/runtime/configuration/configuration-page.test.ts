import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parseConfigurationFile } from '../../base/configuration-file.ts'
import { variablesOf, type Setting } from '../../base/configuration.ts'
import { LOG_LEVELS } from '../../base/logger.ts'
import { LOG_FORMATS, SETTINGS } from './configuration.ts'

const page = readFileSync(new URL('../../../docs/reference/configuration.md', import.meta.url), 'utf8')
const settings: readonly (readonly [string, Setting])[] = Object.entries(SETTINGS)

test('BA-79 the reference page shows every setting as it is', () => {
  const section = page.slice(page.indexOf('## Settings'), page.indexOf('## Secrets'))
  const shown = section.split('\n').filter((line) => line.startsWith('| `'))
  const expected = settings.map(([name, setting]) => {
    const variables = variablesOf(name, setting).map((variable) => `\`${variable}\``)
    const fallback =
      setting.fallback === undefined ? '' : `\`${JSON.stringify(setting.fallback).replaceAll('"', '')}\``
    return `| \`${name}\` | ${variables.join(', ')} | ${fallback} | ${setting.about} |`
  })
  expect(shown).toEqual(expected)
  for (const choice of [...LOG_LEVELS, ...LOG_FORMATS]) expect(section).toContain(`\`${choice}\``)
  for (const [name, setting] of settings)
    if (setting.secret === true) expect(page).toMatch(new RegExp(`\`${name}\` (and|can)`))
})

test('BA-79 the example on the reference page is one that is understood', async () => {
  const example = /```yaml\n([\s\S]*?)```/.exec(page)?.[1] ?? ''
  const { root, problems } = await parseConfigurationFile(example)
  expect(problems).toEqual([])
  const names =
    root.kind !== 'section'
      ? []
      : root.entries.flatMap((section) =>
          section.node.kind === 'section'
            ? section.node.entries.map(({ key }) => `${section.key}.${key.replace(/File$/, '')}`)
            : [],
        )
  expect(names).toHaveLength(4)
  for (const name of names) expect(Object.keys(SETTINGS)).toContain(name)
})
