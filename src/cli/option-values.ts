import { InvalidArgumentError } from 'commander'

/** A TCP port; 0 asks for a free one. */
export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN
  if (port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}
