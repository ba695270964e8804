#!/usr/bin/env node
/** The `perago` command. Everything it does is in `run.ts`; here it only meets the process. */

import { COMMAND_LINGER_MS } from './limits.ts'
import { processTerminal } from './process-terminal.ts'
import { runCli, showFailure } from './run.ts'

const terminal = processTerminal()
process.on('uncaughtException', (error) => {
  // The process is in a state nobody thought of: say so, and go.
  process.exit(showFailure(error, process.argv.slice(2), terminal))
})
process.exitCode = await runCli(process.argv.slice(2), terminal)
// What the body of a task has left behind, such as a timer, must not keep a command that is done from ending.
setTimeout(() => process.exit(), COMMAND_LINGER_MS).unref()
