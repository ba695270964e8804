/** The commands about modules of tasks; see `program.ts`. */

import type { Command } from 'commander'
import type { CheckOptions } from './commands/check.ts'
import type { ExtractOptions } from './commands/extract.ts'
import type { RegisterOptions } from './commands/register.ts'
import { configured, example } from './help.ts'
import type { Terminal } from './terminal.ts'

const MODULE = 'the .ts or .js file that exports the tasks'

export function addTaskCommands(program: Command, terminal: Terminal): void {
  addCheck(program, terminal)
  addExtract(program, terminal)
  addRegister(program, terminal)
}

function addCheck(program: Command, terminal: Terminal): void {
  configured(program.command('check'))
    .summary('Looks at the tasks and workflows of a module, and compares them with Conductor.')
    .description(
      'Looks at the tasks and workflows that a module declares: schemas, leases and publish budgets, parallel writers. With a configured Conductor it says what differs from what is registered there.',
    )
    .argument('<module>', MODULE)
    .option('--offline', 'do not ask Conductor')
    .addHelpText('after', example('perago check tasks.ts', 'perago check tasks.ts --offline --json'))
    .action(async (module: string, options: CheckOptions) => {
      const { checkModule } = await import('./commands/check.ts')
      await checkModule(module, options, terminal)
    })
}

function addExtract(program: Command, terminal: Terminal): void {
  program
    .command('extract')
    .summary('Writes the definitions of a module as JSON, for Conductor and for others.')
    .description(
      'Writes the task definitions, workflow definitions and JSON Schemas of a module: into a directory, or without one as a single JSON document.',
    )
    .argument('<module>', MODULE)
    .option('-o, --out <dir>', 'write one file each into this directory')
    .option('--json', 'answer with one JSON document')
    .addHelpText('after', example('perago extract tasks.ts', 'perago extract tasks.ts -o definitions'))
    .action(async (module: string, options: ExtractOptions) => {
      const { extractDefinitions } = await import('./commands/extract.ts')
      await extractDefinitions(module, options, terminal)
    })
}

function addRegister(program: Command, terminal: Terminal): void {
  configured(program.command('register'))
    .summary('Registers the definitions of a module with Conductor, after showing what would change.')
    .description(
      'Creates or replaces the task and workflow definitions of a module on the configured Conductor, after showing what would change. Workflows that run already keep the definitions they started with.',
    )
    .argument('<module>', MODULE)
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'do not ask')
    .addHelpText('after', example('perago register tasks.ts --dry-run', 'perago register tasks.ts --yes'))
    .action(async (module: string, options: RegisterOptions) => {
      const { registerModule } = await import('./commands/register.ts')
      await registerModule(module, options, terminal)
    })
}
