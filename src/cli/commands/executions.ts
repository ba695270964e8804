import type { Caller } from '../../server/access/callers.ts'
import type { ExecutionDoor } from '../../server/http/ports.ts'
import { EventFeeds } from '../../server/http/event-feed.ts'
import {
  listVariables,
  openForReading,
  queryEvents,
  readVariable,
  showEvent,
} from '../../server/http/read-execution.ts'
import { silentLogger } from '../../base/logger.ts'
import { oneLine, shortened } from '../../base/one-line.ts'
import { openExecutionAccess, type OpenedAccess } from '../../runtime/execution-access.ts'
import { withStores, type CoreOptions } from '../core-stores.ts'
import { renderTable } from '../table.ts'
import type { Terminal } from '../terminal.ts'

export interface EventsOptions extends CoreOptions {
  readonly follow?: boolean
  readonly type?: readonly string[]
  readonly after?: number
  readonly limit: number
  readonly tenant?: string
}

export interface VariablesOptions extends CoreOptions {
  readonly tenant?: string
}

/** How much of a value a line shows. */
const SHOWN_CHARS = 100

export async function showEvents(
  execution: string,
  options: EventsOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.follow === true) {
    await followEvents(execution, options, terminal)
    return
  }
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

/** Until the execution has ended, or somebody says to stop. */
async function followEvents(execution: string, options: EventsOptions, terminal: Terminal): Promise<void> {
  const { type = [], after = 0, json = false, tenant } = options
  const signal = terminal.stopSignal()
  await withExecution(execution, options, terminal, async (door, { compilePattern }) => {
    const patterns = type.map(compilePattern)
    const key = `${tenant ?? ''}/${execution}`
    const bunches = new EventFeeds().follow({ key, door, after, signal })
    try {
      for await (const event of flatten(bunches)) {
        if (patterns.length > 0 && !patterns.some((isWanted) => isWanted(event.type))) continue
        const { sequence, timestamp, payload } = event
        terminal.answer(
          json
            ? `${JSON.stringify(showEvent(event))}\n`
            : `${sequence}  ${timestamp}  ${event.type}  ${line(payload)}\n`,
        )
      }
    } catch (error) {
      // Whoever stopped it knows that it stopped.
      if (!signal.aborted) throw error
    }
  })
}

async function* flatten<T>(bunches: AsyncIterable<readonly T[]>): AsyncGenerator<T, void, undefined> {
  for await (const bunch of bunches) yield* bunch
}

function withExecution<T>(
  execution: string,
  options: CoreOptions & { readonly tenant?: string },
  terminal: Terminal,
  work: (door: ExecutionDoor, access: OpenedAccess) => Promise<T>,
): Promise<T> {
  return withStores(options, terminal, async ({ store, archive }) => {
    const access = openExecutionAccess({ store, archive, logger: silentLogger })
    // Whoever reads the data's directory needs no token: it is theirs already.
    const caller: Caller = { name: 'cli', tenant: options.tenant, role: 'viewer' }
    return work(await openForReading(access, caller, execution), access)
  })
}

function line(value: unknown): string {
  return shortened(oneLine(JSON.stringify(value)), SHOWN_CHARS)
}
