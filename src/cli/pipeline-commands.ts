/** The commands about files of pipelines; see `program.ts`. */

import type { Command } from 'commander'
import { example, lazy, onEngine } from './help.ts'
import type { Terminal } from './terminal.ts'

export function addPipelineCommands(program: Command, terminal: Terminal): void {
  addValidate(program, terminal)
  addGraph(program, terminal)
}

function addValidate(program: Command, terminal: Terminal): void {
  program
    .command('validate')
    .summary('Checks pipeline files, and shows every problem with its line and column.')
    .description(
      'Checks pipelines in YAML, JSON or a module: names, references, conditions, cycles, and units that may write one branch at the same time. Shows every problem of every file.',
    )
    .argument('<files...>', 'pipeline files (.yaml, .yml, .json) or modules (.ts, .js)')
    .option('--tasks <module>', 'the module that exports the tasks, to know which of them only read')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      example('perago validate daily.yaml', 'perago validate *.yaml --tasks tasks.ts --json'),
    )
    .action(lazy(terminal, async () => (await import('./commands/validate.ts')).validatePipelines))
}

function addGraph(program: Command, terminal: Terminal): void {
  onEngine(program.command('graph'))
    .summary('Draws a pipeline, or an execution with its states, as text or as SVG.')
    .description(
      'Draws the units of a pipeline in the order in which they can run: as text, or as an SVG image with layers from left to right. Of an execution it also shows how each unit stands. With --json it prints the graph.',
    )
    .argument(
      '<file>',
      'a pipeline file (.yaml, .yml, .json), a module (.ts, .js), or the id of an execution',
    )
    .option('--pipeline <name>', 'which pipeline, of a module with several')
    .option('--svg <file>', 'write an SVG image into this file')
    .addHelpText(
      'after',
      example(
        'perago graph daily.yaml',
        'perago graph tasks.ts --pipeline orders.daily --svg daily.svg',
        'perago graph 6f1f2c3d-6b1a-4a57-9c9e-0d8f5a1b2c3d',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/graph.ts')).drawPipeline))
}
