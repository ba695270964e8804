/** The commands about executions and the server over them; see `program.ts`. */

import { InvalidArgumentError, Option, type Command } from 'commander'
import { ROLES } from '../server/access/callers.ts'
import { API_PAGE_MAX_EVENTS, TOKEN_LIFETIME_MAX_MS } from '../server/limits.ts'
import { parseDuration } from '../base/quantities.ts'
import { archiveOption, retentionOptions, storeOptions } from './store-options.ts'
import { configured, configuredServing, example, lazy } from './help.ts'
import { parsePort, SERVE_PORT, UI_PORT } from './options.ts'
import type { Terminal } from './terminal.ts'

export function addCoreCommands(program: Command, terminal: Terminal): void {
  addServe(program, terminal)
  addUi(program, terminal)
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
      'Serves events and variables of executions over HTTP until it is stopped. Prints "ready <address>" once it listens. Callers need a token; see perago token. A browser gets a page at the same address.',
    )
    .option('--host <host>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes a free one', parsePort, SERVE_PORT)
  retentionOptions(archiveOption(storeOptions(serve)))
    .option('--memory', 'keep everything in memory; nothing is left after the end')
    .option('--engine', 'also run executions of pipelines, which are started over HTTP')
    .option(
      '--metrics-port <port>',
      'serve metrics of the engine, for Prometheus; 0 takes a free port',
      parsePort,
    )
    .option('--metrics-host <host>', 'the address of that port (default: 127.0.0.1)')
    .option('--tls-cert <file>', 'a certificate in PEM; then only TLS is accepted')
    .option('--tls-key <file>', 'its key in PEM')
    .option('--allow-plain-text', 'listen beyond loopback without TLS, behind a proxy that speaks it')
    .option(
      '--trusted-proxies <addresses>',
      'proxies, such as 10.0.0.1,10.1.0.0/16, whose X-Forwarded-For names the client',
      (text: string) => text.split(','),
    )
    .option('--root <dir>', 'the root of the workers of this machine, to show them (default: .perago/work)')
    .option('--allow-private-webhooks', 'allow webhooks to call private addresses')
    .addOption(
      new Option('--open-loopback <role>', 'accept requests from this machine without a token').choices(
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
    .action(lazy(terminal, async () => (await import('./commands/serve.ts')).serveExecutions))
}

function addUi(program: Command, terminal: Terminal): void {
  const ui = program
    .command('ui')
    .summary('Opens a page that shows the configured lakeFS to a browser.')
    .description(
      'Serves a page that shows the configured lakeFS and the configured Conductor, for browsers of this machine, until it is stopped. Needs no store. Prints "ready <address>" once it listens: open that address in a browser. The key in it is new with each start; whoever has it sees what the configured credentials see.',
    )
    .option('--port <port>', 'the port to listen on; 0 takes a free one', parsePort, UI_PORT)
    .option('--root <dir>', 'the root of the workers of this machine, to show them (default: .perago/work)')
  configuredServing(ui)
    .addHelpText('after', example('perago ui', 'perago ui --port 0 --config staging.yaml'))
    .action(lazy(terminal, async () => (await import('./commands/ui.ts')).openUi))
}

function addToken(program: Command, terminal: Terminal): void {
  const token = program
    .command('token')
    .description('Creates, lists and revokes the tokens that clients of perago serve need.')
  configured(storeOptions(token.command('create')))
    .description('Creates a token and shows it this once. Only a digest of it is stored.')
    .requiredOption('--name <name>', 'what it is for, shown in the list')
    .addOption(
      new Option('--role <role>', 'what it may do: read; also publish and manage webhooks; everything')
        .choices(ROLES)
        .default('viewer'),
    )
    .option('--tenant <tenant>', 'whose executions it can use (default: those without a tenant)')
    .option(
      '--expires-in <duration>',
      'how long it is valid, such as 30d (default: until it is revoked)',
      parseLifetime,
    )
    .addHelpText('after', example('perago token create --name ci --role operator --expires-in 30d'))
    .action(lazy(terminal, async () => (await import('./commands/tokens.ts')).createToken))
  configured(storeOptions(token.command('list')))
    .description('Lists the tokens, without their secrets.')
    .addHelpText('after', example('perago token list'))
    .action(lazy(terminal, async () => (await import('./commands/tokens.ts')).listTokens))
  configured(storeOptions(token.command('revoke')))
    .description('Revokes a token: the next request with it is refused.')
    .argument('<id>', 'the id that the list shows')
    .addHelpText('after', example('perago token revoke 3hK9sLq0Zx_1'))
    .action(lazy(terminal, async () => (await import('./commands/tokens.ts')).revokeToken))
}

function addEvents(program: Command, terminal: Terminal): void {
  configured(archiveOption(storeOptions(program.command('events'))))
    .description('Lists the events of one execution, in the order of its log.')
    .argument('<execution>', 'the id of the execution')
    .option('--type <pattern...>', 'only these types; * is one segment, ** any number')
    .option('--after <sequence>', 'only events after this sequence number', parseSequence)
    .option('--limit <count>', 'the most events to list', parseLimit, 100)
    .option('--follow', 'continue with new events until the execution has ended')
    .option('--tenant <tenant>', 'whose execution it is')
    .addHelpText(
      'after',
      example(
        'perago events exec_12345',
        "perago events exec_12345 --type '*.completed' --json",
        'perago events exec_12345 --follow',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/executions.ts')).showEvents))
}

function addVariables(program: Command, terminal: Terminal): void {
  configured(storeOptions(program.command('vars')))
    .description('Shows the variables of one execution, or one of them.')
    .argument('<execution>', 'the id of the execution')
    .argument('[name]', 'one variable, such as extract.row_count')
    .option('--prefix <prefix>', 'only names that begin with this, such as shared.')
    .option('--history', 'with a name: what was written to it, the latest first')
    .option('--after <name>', 'only names behind this one')
    .option('--limit <count>', 'the most variables to list (default: all)', parseLimit)
    .option('--tenant <tenant>', 'whose execution it is')
    .addHelpText(
      'after',
      example(
        'perago vars exec_12345',
        'perago vars exec_12345 pipeline.input.day --json',
        'perago vars exec_12345 shared.rows --history',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/executions.ts')).showVariables))
}

function addSweep(program: Command, terminal: Terminal): void {
  const sweep = program
    .command('sweep')
    .summary('Removes data of ended executions after its retention.')
    .description(
      'Archives the events of ended executions, if there is an archive, and removes data after its retention. A running perago serve does this on its own.',
    )
    .option('--dry-run', 'only report what would be removed')
  configured(retentionOptions(archiveOption(storeOptions(sweep))))
    .addHelpText('after', example('perago sweep --dry-run', 'perago sweep --keep-events 90d'))
    .action(lazy(terminal, async () => (await import('./commands/sweep.ts')).sweep))
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
