import { InvalidError } from '../../base/errors.ts'
import { withConductor } from '../../runtime/connections/conductor-connection.ts'
import {
  compareModule,
  registerDefinitions,
  type DefinitionState,
} from '../../runtime/modules/module-registration.ts'
import { readModule } from '../../runtime/modules/task-modules.ts'
import { loadForCommand } from '../configured.ts'
import { renderChanges } from '../definition-states.ts'
import { PATIENCE, type ConfiguredOptions } from '../options.ts'
import { answer } from '../answers.ts'
import type { Terminal } from '../terminal.ts'
import { refuseProblems } from './check.ts'

export interface RegisterOptions extends ConfiguredOptions {
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** Shows what would change on the server, asks for confirmation, and changes it. */
export async function registerModule(
  path: string,
  options: RegisterOptions,
  terminal: Terminal,
): Promise<void> {
  const module = await readModule(path)
  refuseProblems(path, module)
  const { configuration, logger } = await loadForCommand(options, terminal)
  const signal = terminal.stopSignal()
  await withConductor(configuration, { logger, retry: PATIENCE }, async (client) => {
    const { definitions } = await compareModule(client, module, { signal })
    const isChange = definitions.some(({ state }) => state !== 'same')
    const show = (states: readonly DefinitionState[], done: boolean): void => {
      answer(terminal, options, { done, definitions: states }, () => {
        return `${renderChanges(states)}${summary(isChange, done)}\n`
      })
    }
    if (!isChange || options.dryRun === true) {
      show(definitions, false)
      return
    }
    if (options.yes !== true) await confirm(path, definitions, terminal)
    show(await registerDefinitions(client, module, { signal }), true)
  })
}

function summary(isChange: boolean, done: boolean): string {
  if (!isChange) return 'nothing to do: everything is registered'
  return done ? 'registered' : 'nothing was changed'
}

/** Registering replaces definitions for everybody who uses the server, so it must be confirmed. */
async function confirm(path: string, states: readonly DefinitionState[], terminal: Terminal): Promise<void> {
  terminal.say(renderChanges(states))
  const answer = await terminal.ask?.('Register this? [y/N] ')
  if (answer !== undefined && /^y(es)?$/i.test(answer.trim())) return
  throw new InvalidError(
    'cli/not-confirmed',
    `register ${JSON.stringify(path)}: it was not confirmed, nothing was changed`,
    { next: 'Check them, and run it again with --yes.' },
  )
}
