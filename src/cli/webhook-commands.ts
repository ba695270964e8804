/** The commands about webhooks; see `program.ts`. */

import { InvalidArgumentError, type Command } from 'commander'
import { parseDuration } from '../base/quantities.ts'
import type { AddWebhookOptions, WebhookOptions } from './commands/webhooks.ts'
import { storeOptions } from './core-stores.ts'
import { configured, example } from './help.ts'
import { parseCount } from './options.ts'
import type { Terminal } from './terminal.ts'

const ID = 'the id that the list shows'

export function addWebhookCommands(program: Command, terminal: Terminal): void {
  const webhooks = program
    .command('webhooks')
    .description('Who outside is told of which events. perago serve delivers.')

  shared(webhooks.command('add'))
    .description('Adds a receiver, and shows once the secret that its deliveries are signed with.')
    .argument('<address>', 'where events are posted to')
    .requiredOption('--type <pattern...>', 'which events; * is one segment, ** any number')
    .option('--attempts <count>', 'how often a delivery is tried (default: 8)', parseCount)
    .option('--delay <duration>', 'the wait before the second try; it doubles (default: 5s)', parseDelay)
    .addHelpText(
      'after',
      example("perago webhooks add https://example.com/hook --type pipeline.completed '*.failed'"),
    )
    .action(async (address: string, options: AddWebhookOptions) => {
      const { addWebhook } = await import('./commands/webhooks.ts')
      await addWebhook(address, options, terminal)
    })

  shared(webhooks.command('list'))
    .description('Lists the receivers, without their secrets.')
    .addHelpText('after', example('perago webhooks list'))
    .action(async (options: WebhookOptions) => {
      const { listWebhooks } = await import('./commands/webhooks.ts')
      await listWebhooks(options, terminal)
    })

  shared(webhooks.command('remove'))
    .description('Removes a receiver, and whatever was on its way to it.')
    .argument('<id>', ID)
    .addHelpText('after', example('perago webhooks remove wh_3hK9sLq0Zx_1'))
    .action(async (id: string, options: WebhookOptions) => {
      const { removeWebhook } = await import('./commands/webhooks.ts')
      await removeWebhook(id, options, terminal)
    })

  shared(webhooks.command('dead'))
    .description('Lists the deliveries that were given up after their last try.')
    .argument('<id>', ID)
    .addHelpText('after', example('perago webhooks dead wh_3hK9sLq0Zx_1'))
    .action(async (id: string, options: WebhookOptions) => {
      const { listDead } = await import('./commands/webhooks.ts')
      await listDead(id, options, terminal)
    })

  shared(webhooks.command('redeliver'))
    .description('Lets dead deliveries begin anew: one, or all of a receiver.')
    .argument('<id>', ID)
    .argument('[delivery]', 'one delivery, as the list of the dead shows it')
    .addHelpText('after', example('perago webhooks redeliver wh_3hK9sLq0Zx_1'))
    .action(async (id: string, delivery: string | undefined, options: WebhookOptions) => {
      const { redeliver } = await import('./commands/webhooks.ts')
      await redeliver(id, delivery, options, terminal)
    })
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
  throw new InvalidArgumentError('A delay is a duration such as 5s or 1min.')
}
