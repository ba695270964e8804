import { showOrigin } from '../../base/configuration.ts'
import { oneLine } from '../../base/one-line.ts'
import { REDACTED } from '../../base/redaction.ts'
import {
  SETTINGS,
  type LoadedConfiguration,
  type SettingName,
} from '../../runtime/configuration/configuration.ts'
import { loadForCommand } from '../configured.ts'
import type { ConfiguredOptions } from '../options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

/** Shows every setting with its value and where it comes from, without secrets. */
export async function showConfiguration(options: ConfiguredOptions, terminal: Terminal): Promise<void> {
  const loaded = await loadForCommand(options, terminal)
  const settings = shownSettings(loaded)
  answer(terminal, options, { file: loaded.path ?? null, settings }, () =>
    renderTable(
      settings.map(({ name, value, origin }) => [
        name,
        value === null ? '' : oneLine(typeof value === 'string' ? value : JSON.stringify(value)),
        showOrigin(origin),
      ]),
    ),
  )
}

/** A value that is not set is `null`. */
function shownSettings({ settings, redactor }: LoadedConfiguration) {
  return (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const { value, origin } = settings[name]
    const isSecret = 'secret' in SETTINGS[name]
    const shown = isSecret && value !== undefined ? REDACTED : redactor.value(value)
    return { name, value: shown ?? null, origin }
  })
}
