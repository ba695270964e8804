/** The commands about webhooks; see `program.ts`. */

import { InvalidArgumentError, type Command } from 'commander'
import { parseDuration } from '../base/quantities.ts'
import { storeOptions } from './store-options.ts'
import { configured, example, lazy } from './help.ts'
import { parseCount } from './options.ts'
import type { Terminal } from './terminal.ts'

const ID = 'the id that the list shows'

export function addWebhookCommands(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command('webhooks')
    .description('Adds, lists and removes webhooks: addresses that perago serve posts events to.')

  shared(webhooks.command('add'))
    .description('Adds a webhook, and shows this once the secret that its deliveries are signed with.')
    .argument('<address>', 'where to post events')
    .requiredOption('--type <pattern...>', 'which events; * is one segment, ** any number')
    .option('--attempts <count>', 'the number of tries of a delivery (default: 8)', parseCount)
    .option(
      '--delay <duration>',
      'the wait before the second try; it doubles with each try (default: 5s)',
      parseDelay,
    )
    .addHelpText(
      'after',
      example("perago webhooks add https://example.com/hook --type pipeline.completed '*.failed'"),
    )
    .action(lazy(terminal, async () => (await import('./commands/webhooks.ts')).addWebhook))

  shared(webhooks.command('list'))
    .description('Lists the webhooks, without their secrets.')
    .addHelpText('after', example('perago webhooks list'))
    .action(lazy(terminal, async () => (await import('./commands/webhooks.ts')).listWebhooks))

  shared(webhooks.command('remove'))
    .description('Removes a webhook, and the deliveries that wait for it.')
    .argument('<id>', ID)
    .addHelpText('after', example('perago webhooks remove wh_3hK9sLq0Zx_1'))
    .action(lazy(terminal, async () => (await import('./commands/webhooks.ts')).removeWebhook))

  shared(webhooks.command('dead'))
    .description('Lists dead deliveries: those whose last try failed.')
    .argument('<id>', ID)
    .addHelpText('after', example('perago webhooks dead wh_3hK9sLq0Zx_1'))
    .action(lazy(terminal, async () => (await import('./commands/webhooks.ts')).listDead))

  shared(webhooks.command('redeliver'))
    .description('Sends dead deliveries again: one, or all of a webhook.')
    .argument('<id>', ID)
    .argument('[delivery]', 'the id of one dead delivery')
    .addHelpText('after', example('perago webhooks redeliver wh_3hK9sLq0Zx_1'))
    .action(lazy(terminal, async () => (await import('./commands/webhooks.ts')).redeliver))
}

function shared(command: Command): Command {
  return configured(storeOptions(command)).option(
    '--tenant <tenant>',
    'whose executions (default: those without a tenant)',
  )
}

function parseDelay(text: string): number {
  const delayMs = parseDuration(text)
  if (delayMs !== undefined) return delayMs
  throw new InvalidArgumentError('A delay is a duration such as 5s or 1m.')
}
