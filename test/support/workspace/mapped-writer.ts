/** A program that maps files and writes through the mappings, which Node cannot do. */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'

/** Why there is no such program here, or undefined. */
export function whyNoMappedWriter(): string | undefined {
  return spawnSync('python3', ['-c', 'import mmap']).status === 0 ? undefined : 'no python3 here'
}

export interface MappedWriter {
  readonly pid: number
  /** Maps the file, reads it through the mapping, and keeps it mapped, but not open. */
  map(path: string): Promise<void>
  /** Replaces the first byte of the file that was mapped last. */
  write(byte: string): Promise<void>
  unmap(): Promise<void>
  end(): Promise<void>
}

const PROGRAM = `
import mmap, sys
mapped = None
for line in sys.stdin:
    command, argument = line.rstrip('\\n').split(' ', 1)
    if command == 'map':
        with open(argument, 'r+b') as file:
            mapped = mmap.mmap(file.fileno(), 0)
        mapped[:]
    if command == 'write':
        mapped[0:1] = argument.encode()
    if command == 'unmap':
        mapped.close()
    print('done', flush=True)
`

/** With `prefix`, the program is started by another one. */
export async function openMappedWriter(prefix: readonly string[] = []): Promise<MappedWriter> {
  const [command, ...args]: [string, ...string[]] = ['env', ...prefix, 'python3', '-c', PROGRAM]
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  const end = async (): Promise<void> => {
    child.stdin.end()
    await ended
  }
  onTestFinished(end)
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const ask = async (line: string): Promise<void> => {
    child.stdin.write(`${line}\n`)
    if ((await lines.next()).value !== 'done') throw new Error(`the program failed to ${line}`)
  }
  await once(child, 'spawn')
  return {
    pid: child.pid ?? 0,
    map: (path) => ask(`map ${path}`),
    write: (byte) => ask(`write ${byte}`),
    unmap: () => ask('unmap '),
    end,
  }
}
