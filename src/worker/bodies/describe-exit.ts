/** How a child process ended, as one clause. */
export function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === null) return `it ended with status ${code ?? '?'}`
  // Nobody else sends it as often; the system says so in its own log alone.
  const hint = signal === 'SIGKILL' ? ', perhaps because the machine or container had no memory left' : ''
  return `it was killed by ${signal}${hint}`
}
