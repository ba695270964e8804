/** The commands that repair, clean up and explain what was published; see `program.ts`. */

import { Option, type Command } from 'commander'
import { RECOVERY_ACTIONS } from '../recovery/plan.ts'
import { configured, example, lazy } from './help.ts'
import { parseCount, parseWholeNumber } from './options.ts'
import type { Terminal } from './terminal.ts'

export function addRecoveryCommands(program: Command, terminal: Terminal): void {
  configured(program.command('recover'))
    .summary('Says what became of a publication, and repairs it.')
    .description(
      'Reads Conductor, lakeFS and the outboxes of this machine, names the situation, and says what may be done about it. Changes nothing without --apply. No commit is lost: each branch that moves leaves a tag at its old head.',
    )
    .argument('<target>', 'a workflow id, or a branch as repository/branch')
    .option('--apply', 'do what is safe without asking, or what --action names')
    .addOption(
      new Option('--action <action>', 'the action to take, of those that are offered').choices(
        Object.keys(RECOVERY_ACTIONS),
      ),
    )
    .option('--reason <text>', 'why; logged with what is done')
    .option('--result <json>', 'for adopt: the result of the task')
    .option('--root <dir>', 'the root of the workers of this machine (default: .perago/work)')
    .addHelpText(
      'after',
      example(
        'perago recover my-data/main',
        'perago recover 3f0c… --apply',
        'perago recover 3f0c… --apply --action quarantine --reason "loaded the wrong day"',
      ),
    )
    .action(lazy(terminal, async () => (await import('./commands/recover.ts')).recoverTarget))
  addCollection(program, terminal)
  addHistory(program, terminal)
}

function addCollection(program: Command, terminal: Terminal): void {
  configured(program.command('gc'))
    .summary('Removes what ended attempts have left behind.')
    .description(
      'Shows the staging branches of a repository, also those of the Python package, and the directories of this machine that ended attempts have left behind; with --apply removes them. Evidence, and what may still be at work, stays.',
    )
    .argument('<repository>', 'the repository in lakeFS')
    .option('--apply', 'remove them')
    .option('--older-than <duration>', 'how old a branch of an ended attempt must be', '1h')
    .option(
      '--unknown-older-than <duration>',
      'how old a branch must be of whose attempt Conductor knows nothing',
      '7d',
    )
    .option('--root <dir>', 'the root of the workers of this machine (default: .perago/work)')
    .addHelpText('after', example('perago gc my-data', 'perago gc my-data --apply --older-than 12h'))
    .action(lazy(terminal, async () => (await import('./commands/gc.ts')).collect))
}

function addHistory(program: Command, terminal: Terminal): void {
  configured(program.command('verify'))
    .summary('Proves or refutes what perago promises of the history of a branch.')
    .description(
      'Walks the history of a branch to its beginning and checks it: one commit per completed task, expected parents, fences that held, nothing lost. Names who published without a hard fence. Changes nothing. Exit code 3 where something is refuted.',
    )
    .argument('<repository>', 'the repository in lakeFS')
    .argument('<branch>', 'the branch')
    .option('--since <ref>', 'only the commits above this commit, branch or tag')
    .option('--limit <count>', 'only the newest so many commits', parseWholeNumber)
    .addHelpText('after', example('perago verify my-data main', 'perago verify my-data main --since v1.0'))
    .action(lazy(terminal, async () => (await import('./commands/history.ts')).verifyBranch))
  configured(program.command('blame'))
    .summary('Shows which run, task, attempt and code version made the commits of a branch.')
    .argument('<repository>', 'the repository in lakeFS')
    .argument('<branch>', 'the branch')
    .argument('[path]', 'only the commit that made this path what it is')
    .option('--limit <count>', 'how many commits, without a path', parseCount, 20)
    .addHelpText('after', example('perago blame my-data main', 'perago blame my-data main orders/day.csv'))
    .action(lazy(terminal, async () => (await import('./commands/history.ts')).blameBranch))
  configured(program.command('diff'))
    .summary('Shows what a run changed.')
    .argument('<run>', 'a workflow id; with --repo and --branch also a run that perago blame shows')
    .option('--repo <repository>', 'look in the history of a branch, instead of asking Conductor')
    .option('--branch <branch>', 'that branch')
    .addHelpText('after', example('perago diff 3f0c…', 'perago diff 3f0c… --repo my-data --branch main'))
    .action(lazy(terminal, async () => (await import('./commands/history.ts')).diffRun))
}
