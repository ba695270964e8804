import type { Caller } from '../../api/callers.ts'
import type { ExecutionDoor } from '../../api/ports.ts'
import { listVariables, openForReading, queryEvents, readVariable } from '../../api/read-execution.ts'
import { silentLogger } from '../../base/logger.ts'
import { oneLine, shortened } from '../../base/one-line.ts'
import { openExecutionAccess } from '../../runtime/execution-access.ts'
import { openStoreOf } from '../../runtime/open-store.ts'
import { coreDirectory } from '../core-directory.ts'
import type { DataOptions } from '../options.ts'
import { renderTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

export interface EventsOptions extends DataOptions {
  readonly type?: readonly string[]
  readonly after?: number
  readonly limit: number
  readonly tenant?: string
}

export interface VariablesOptions extends DataOptions {
  readonly tenant?: string
}

/** How much of a value a line shows. */
const SHOWN_CHARS = 100

export async function showEvents(
  execution: string,
  options: EventsOptions,
  terminal: Terminal,
): Promise<void> {
  const { type, after, limit } = options
  const page = await withExecution(execution, options, terminal, (door) =>
    queryEvents(door, {
      limit,
      ...(type === undefined ? {} : { types: type }),
      ...(after === undefined ? {} : { after }),
    }),
  )
  if (options.json === true) {
    terminal.answer(`${JSON.stringify(page, undefined, 2)}\n`)
    return
  }
  const rows = page.events.map(({ sequence, timestamp, type: shown, payload }) => [
    String(sequence),
    timestamp,
    shown,
    line(payload),
  ])
  terminal.answer(renderTable([['SEQUENCE', 'TIME', 'TYPE', 'PAYLOAD'], ...rows]))
  if (page.next_after !== undefined) terminal.say(`there are more: --after ${page.next_after}\n`)
}

export async function showVariables(
  execution: string,
  name: string | undefined,
  options: VariablesOptions,
  terminal: Terminal,
): Promise<void> {
  if (name !== undefined) {
    const variable = await withExecution(execution, options, terminal, (door) => readVariable(door, name))
    terminal.answer(`${JSON.stringify(options.json === true ? variable : variable.value, undefined, 2)}\n`)
    return
  }
  const listed = await withExecution(execution, options, terminal, (door) => listVariables(door, ''))
  if (options.json === true) {
    terminal.answer(`${JSON.stringify(listed, undefined, 2)}\n`)
    return
  }
  const rows = listed.variables.map(({ name: shown, value }) => [shown, line(value)])
  terminal.answer(renderTable([['NAME', 'VALUE'], ...rows]))
}

async function withExecution<T>(
  execution: string,
  options: DataOptions & { readonly tenant?: string },
  terminal: Terminal,
  work: (door: ExecutionDoor) => Promise<T>,
): Promise<T> {
  const store = openStoreOf(coreDirectory(options, terminal))
  try {
    const access = openExecutionAccess({ store, logger: silentLogger })
    // Whoever reads the data's directory needs no token: it is theirs already.
    const caller: Caller = { name: 'cli', tenant: options.tenant, role: 'viewer' }
    return await work(await openForReading(access, caller, execution))
  } finally {
    await store.close()
  }
}

function line(value: unknown): string {
  return shortened(oneLine(JSON.stringify(value)), SHOWN_CHARS)
}
