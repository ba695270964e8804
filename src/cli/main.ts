#!/usr/bin/env node
/** The `perago` command, in its process. What it does is in `run.ts`. */

import { COMMAND_LINGER_MS } from './limits.ts'
import { processTerminal } from './process-terminal.ts'
import { runCli, showFailure } from './run.ts'

const terminal = processTerminal()
process.on('uncaughtException', (error) => {
  // The state of the process is unknown: show the error and end.
  process.exit(showFailure(error, process.argv.slice(2), terminal))
})
process.exitCode = await runCli(process.argv.slice(2), terminal)
// A timer or the like that the body of a task left behind must not keep the process running.
setTimeout(() => process.exit(), COMMAND_LINGER_MS).unref()
