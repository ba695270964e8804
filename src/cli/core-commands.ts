/** The commands about executions and the server over them; see `program.ts`. */

import { InvalidArgumentError, Option, type Command } from 'commander'
import { ROLES } from '../server/access/callers.ts'
import { API_PAGE_MAX_EVENTS, TOKEN_LIFETIME_MAX_MS } from '../server/limits.ts'
import { parseDuration } from '../base/quantities.ts'
import type { EventsOptions, VariablesOptions } from './commands/executions.ts'
import type { ServeOptions } from './commands/serve.ts'
import type { SweepOptions } from './commands/sweep.ts'
import type { TokenOptions } from './commands/tokens.ts'
import { archiveOption, retentionOptions, storeOptions, type CoreOptions } from './core-stores.ts'
import { configured, configuredServing, example } from './help.ts'
import { parsePort } from './options.ts'
import type { Terminal } from './terminal.ts'

export function addCoreCommands(program: Command, terminal: Terminal): void {
  addServe(program, terminal)
  addToken(program, terminal)
  addEvents(program, terminal)
  addVariables(program, terminal)
  addSweep(program, terminal)
}

function addServe(program: Command, terminal: Terminal): void {
  const serve = program
    .command('serve')
    .summary('Serves events and variables of executions over HTTP.')
    .description(
      'Serves events and variables of executions over HTTP until it is stopped. Prints "ready <address>" once it listens. Callers need a token; see perago token.',
    )
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes a free one', parsePort, 8080)
  retentionOptions(archiveOption(storeOptions(serve)))
    .option('--memory', 'keep everything in memory, and nothing after the end')
    .option('--tls-cert <file>', 'a certificate in PEM; then only TLS is spoken')
    .option('--tls-key <file>', 'its key in PEM')
    .option('--allow-plain-text', 'listen beyond loopback without TLS, behind a proxy that speaks it')
    .option('--allow-private-webhooks', 'let webhooks lead to private addresses')
    .addOption(
      new Option('--open-loopback <role>', 'let requests from this machine in without a token').choices(
        ROLES,
      ),
    )
  configuredServing(serve)
    .addHelpText(
      'after',
      example(
        'perago serve',
        'perago serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem',
        'perago serve --store env:STORE_URL --archive env:ARCHIVE_URL --keep-events 90d',
      ),
    )
    .action(async (options: ServeOptions) => {
      const { serveExecutions } = await import('./commands/serve.ts')
      await serveExecutions(options, terminal)
    })
}

function addToken(program: Command, terminal: Terminal): void {
  const token = program
    .command('token')
    .description('Makes, lists and revokes the tokens that callers of perago serve need.')
  configured(storeOptions(token.command('create')))
    .description('Makes a token and shows it, this once. Only a digest of it is kept.')
    .requiredOption('--name <name>', 'what it is for, to recognise it in a list')
    .addOption(
      new Option('--role <role>', 'what it may do: read, also publish, everything')
        .choices(ROLES)
        .default('viewer'),
    )
    .option('--tenant <tenant>', 'whose executions it reaches (default: those without a tenant)')
    .option(
      '--expires-in <duration>',
      'how long it is good, such as 30d (default: until it is revoked)',
      parseLifetime,
    )
    .addHelpText('after', example('perago token create --name ci --role operator --expires-in 30d'))
    .action(async (options: TokenOptions) => {
      const { createToken } = await import('./commands/tokens.ts')
      await createToken(options, terminal)
    })
  configured(storeOptions(token.command('list')))
    .description('Lists the tokens, without what is secret about them.')
    .addHelpText('after', example('perago token list'))
    .action(async (options: CoreOptions) => {
      const { listTokens } = await import('./commands/tokens.ts')
      await listTokens(options, terminal)
    })
  configured(storeOptions(token.command('revoke')))
    .description('Revokes a token: from the next request on it is refused.')
    .argument('<id>', 'the id that the list shows')
    .addHelpText('after', example('perago token revoke 3hK9sLq0Zx_1'))
    .action(async (id: string, options: CoreOptions) => {
      const { revokeToken } = await import('./commands/tokens.ts')
      await revokeToken(id, options, terminal)
    })
}

function addEvents(program: Command, terminal: Terminal): void {
  configured(archiveOption(storeOptions(program.command('events'))))
    .description('Lists the events of one execution, in the order of its log.')
    .argument('<execution>', 'the id of the execution')
    .option('--type <pattern...>', 'only these types; * is one segment, ** any number')
    .option('--after <sequence>', 'only events behind this sequence number', parseSequence)
    .option('--limit <count>', 'the most events to list', parseLimit, 100)
    .option('--follow', 'go on with events as they are recorded, until the execution has ended')
    .option('--tenant <tenant>', 'whose execution it is')
    .addHelpText(
      'after',
      example(
        'perago events exec_12345',
        "perago events exec_12345 --type '*.completed' --json",
        'perago events exec_12345 --follow',
      ),
    )
    .action(async (execution: string, options: EventsOptions) => {
      const { showEvents } = await import('./commands/executions.ts')
      await showEvents(execution, options, terminal)
    })
}

function addVariables(program: Command, terminal: Terminal): void {
  configured(storeOptions(program.command('vars')))
    .description('Shows the variables of one execution, or one of them.')
    .argument('<execution>', 'the id of the execution')
    .argument('[name]', 'one variable, such as extract.row_count')
    .option('--tenant <tenant>', 'whose execution it is')
    .addHelpText(
      'after',
      example('perago vars exec_12345', 'perago vars exec_12345 pipeline.input.day --json'),
    )
    .action(async (execution: string, name: string | undefined, options: VariablesOptions) => {
      const { showVariables } = await import('./commands/executions.ts')
      await showVariables(execution, name, options, terminal)
    })
}

function addSweep(program: Command, terminal: Terminal): void {
  const sweep = program
    .command('sweep')
    .summary('Removes what executions that are over have left behind, once it has been kept long enough.')
    .description(
      'Archives the events of executions that have ended, where there is an archive, and removes what has been kept long enough. A running perago serve does so by itself.',
    )
    .option('--dry-run', 'only say what would go')
  configured(retentionOptions(archiveOption(storeOptions(sweep))))
    .addHelpText('after', example('perago sweep --dry-run', 'perago sweep --keep-events 90d'))
    .action(async (options: SweepOptions) => {
      const { sweep: run } = await import('./commands/sweep.ts')
      await run(options, terminal)
    })
}

function parseLifetime(text: string): number {
  const lifetimeMs = parseDuration(text)
  if (lifetimeMs !== undefined && lifetimeMs > 0 && lifetimeMs <= TOKEN_LIFETIME_MAX_MS) return lifetimeMs
  throw new InvalidArgumentError('A lifetime is a duration such as 12h or 30d, at most ten years.')
}

function parseSequence(text: string): number {
  const sequence = /^\d{1,15}$/.test(text) ? Number(text) : NaN
  if (Number.isSafeInteger(sequence)) return sequence
  throw new InvalidArgumentError('A sequence number is a whole number from 0.')
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : NaN
  if (limit >= 1 && limit <= API_PAGE_MAX_EVENTS) return limit
  throw new InvalidArgumentError(`A limit is a whole number from 1 to ${API_PAGE_MAX_EVENTS}.`)
}
