import { constants } from 'node:os'
import { createInterface } from 'node:readline/promises'
import { once } from '../base/once.ts'
import { createRedactor, type Redactor } from '../base/redaction.ts'
import { COMMAND_NPM_LOOK_MS } from './limits.ts'
import { styleFor, type Terminal } from './terminal.ts'

/** The terminal of this process. */
export function processTerminal(): Terminal {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  const secrets = new Set<string>()
  let redactor = createRedactor()
  const current: Redactor = {
    text: (text) => redactor.text(text),
    value: (value) => redactor.value(value),
    known: (text) => redactor.known(text),
  }
  return {
    answer: (text) => process.stdout.write(text),
    say: (text) => process.stderr.write(text),
    ...(process.stdin.isTTY && process.stderr.isTTY ? { ask } : {}),
    input: () => process.stdin as AsyncIterable<Uint8Array>,
    directory: process.cwd(),
    environment: process.env,
    style: styleFor(process.stderr, process.env),
    redactor: current,
    keepSecret: (secret) => {
      secrets.add(secret)
      redactor = createRedactor(secrets)
    },
    stopSignal: once(stopOnSignals),
  }
}

async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await lines.question(question)
  } finally {
    lines.close()
  }
}

function stopOnSignals(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // 128 + n is how a shell reports a process that a signal ended.
      if (controller.signal.aborted) process.exit(128 + constants.signals[name])
      controller.abort(new DOMException(`stopped by ${name}`, 'AbortError'))
    })
  }
  followNpm(controller)
  return controller.signal
}

/** `npx` passes a signal to the shell between it and this process, and to nobody else: the shell ends, and says nothing. */
function followNpm(controller: AbortController): void {
  if (process.env['npm_command'] === undefined) return
  const shell = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === shell) return
    clearInterval(timer)
    controller.abort(new DOMException('stopped because npm ended', 'AbortError'))
  }, COMMAND_NPM_LOOK_MS)
  timer.unref()
}

/** `perago … | head -1` closes the output early, which is not an error. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}
