import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { EventFilter } from '../../core/events/event-filter.ts'
import { compileTypePattern } from '../../core/events/type-pattern.ts'
import { VARIABLES_PER_PAGE_MAX } from '../../core/limits.ts'
import type { ListedVariable, VariableFilter } from '../../core/variables/list-variables.ts'
import type { ExecutionEvent } from '../../core/events/event.ts'
import type { OpenedExecution } from '../../runtime/host.ts'
import { EventFeeds } from '../../server/http/event-feed.ts'
import {
  listVariables,
  queryEvents,
  readVariable,
  readVariableHistory,
  showEvent,
  type ShownHistory,
} from '../../server/http/read-execution.ts'
import { oneLine, printableJson, shortened } from '../../base/one-line.ts'
import { withHost } from '../core-stores.ts'
import type { CoreOptions } from '../store-options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

interface ExecutionOptions extends CoreOptions {
  readonly tenant?: string
}

export interface EventsOptions extends ExecutionOptions {
  readonly follow?: boolean
  readonly type?: readonly string[]
  readonly after?: number
  readonly limit: number
}

export interface VariablesOptions extends ExecutionOptions {
  readonly history?: boolean
  readonly prefix?: string
  readonly after?: string
  /** Default: all. */
  readonly limit?: number
}

/** A longer value is cut. */
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
  const { type: types, after, limit } = options
  const page = await withExecution(execution, options, terminal, (opened) =>
    takeEvents(opened, { limit, ...defined({ types, after }) }),
  )
  answer(terminal, options, page, () => {
    const rows = page.events.map((event) => [
      String(event.sequence),
      event.timestamp,
      event.type,
      line(event.payload),
    ])
    return renderTable([['SEQUENCE', 'TIME', 'TYPE', 'PAYLOAD'], ...rows])
  })
  sayNext(page, options, terminal)
}

export async function showVariables(
  execution: string,
  name: string | undefined,
  options: VariablesOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.history === true) {
    await showHistory(execution, name, options, terminal)
    return
  }
  if (name !== undefined) {
    const variable = await withExecution(execution, options, terminal, (opened) => readVariable(opened, name))
    const { value } = variable
    answer(terminal, options, variable, () => `${printableJson(value, 2)}\n`)
    return
  }
  const { prefix, after, limit } = options
  const listed = await withExecution(execution, options, terminal, (opened) =>
    takeVariables(opened, { limit: limit ?? Infinity, ...defined({ prefix, after }) }),
  )
  answer(terminal, options, listed, () => {
    const rows = listed.variables.map((variable) => [variable.name, line(variable.value)])
    return renderTable([['NAME', 'VALUE'], ...rows])
  })
  sayNext(listed, options, terminal)
}

async function showHistory(
  execution: string,
  name: string | undefined,
  options: VariablesOptions,
  terminal: Terminal,
): Promise<void> {
  if (name === undefined) {
    throw new InvalidError('cli/bad-usage', 'read the command line: --history needs the name of a variable', {
      next: 'Give the name, such as perago vars exec_12345 shared.rows --history.',
    })
  }
  const history = await withExecution(execution, options, terminal, (opened) =>
    readVariableHistory(opened, name),
  )
  answer(terminal, options, history, () =>
    renderTable([
      ['TIME', 'REVISION', 'WRITTEN BY', 'VALUE'],
      ...history.writes.map((write) => [
        write.at ?? 'unknown',
        String(write.revision ?? ''),
        showWriter(write),
        showValue(write),
      ]),
    ]),
  )
  if (history.may_lack && options.json !== true) terminal.say('earlier writes may have been left out\n')
}

type ShownWrite = ShownHistory['writes'][number]

function showWriter({ kind, by }: ShownWrite): string {
  const { unit, attempt, worker_id: worker, event } = by
  if (unit === undefined) return kind === 'unknown' ? 'unknown' : (event ?? 'engine')
  return [
    unit,
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    ...(worker === undefined ? [] : [worker]),
  ].join(' ')
}

function showValue({ kind, value, bytes }: ShownWrite): string {
  if (kind === 'removed') return '(removed)'
  return bytes === undefined ? line(value) : `(${bytes} bytes)`
}

type Whole<Filter> = Filter & { readonly limit: number }

/** Up to the limit, however many pages that takes: a page may be empty although there are more. */
async function takeEvents(execution: OpenedExecution, filter: Whole<EventFilter>) {
  const events: ReturnType<typeof showEvent>[] = []
  for (let { after, limit } = filter; ;) {
    const page = await queryEvents(execution, { ...filter, ...defined({ after }), limit })
    events.push(...page.events)
    limit -= page.events.length
    after = page.next_after
    if (after === undefined || limit === 0) return { events, ...defined({ next_after: after }) }
  }
}

async function takeVariables(execution: OpenedExecution, filter: Whole<VariableFilter>) {
  const variables: ListedVariable[] = []
  for (let { after, limit } = filter; ;) {
    const some = Math.min(limit, VARIABLES_PER_PAGE_MAX)
    const page = await listVariables(execution, { ...filter, ...defined({ after }), limit: some })
    variables.push(...page.variables)
    limit -= page.variables.length
    after = page.next_after
    if (after === undefined || limit === 0) return { variables, ...defined({ next_after: after }) }
  }
}

function sayNext(
  { next_after: next }: { readonly next_after?: string | number },
  { json = false }: ExecutionOptions,
  terminal: Terminal,
): void {
  if (next !== undefined && !json) terminal.say(`there are more: --after ${next}\n`)
}

/** Until the execution has ended, or the command is stopped. */
async function followEvents(execution: string, options: EventsOptions, terminal: Terminal): Promise<void> {
  const { type = [], after = 0, json = false } = options
  const signal = terminal.stopSignal()
  await withExecution(execution, options, terminal, async (opened) => {
    const patterns = type.map(compileTypePattern)
    const render = (event: ExecutionEvent): string => {
      if (json) return `${printableJson(showEvent(event))}\n`
      return `${event.sequence}  ${event.timestamp}  ${event.type}  ${line(event.payload)}\n`
    }
    const groups = new EventFeeds({ render }).follow({ key: execution, execution: opened, after, signal })
    try {
      for await (const sent of flatten(groups)) {
        if (patterns.length > 0 && !patterns.some((matches) => matches(sent.type))) continue
        terminal.answer(sent.block.toString())
      }
    } catch (error) {
      // Stopped by a signal: not a failure.
      if (!signal.aborted) throw error
    }
  })
}

async function* flatten<T>(groups: AsyncIterable<readonly T[]>): AsyncGenerator<T, void, undefined> {
  for await (const group of groups) yield* group
}

function withExecution<T>(
  execution: string,
  { tenant, ...options }: ExecutionOptions,
  terminal: Terminal,
  work: (execution: OpenedExecution) => Promise<T>,
): Promise<T> {
  return withHost(options, terminal, async ({ executions }) =>
    work(await executions.open({ tenant, execution })),
  )
}

function line(value: unknown): string {
  return shortened(oneLine(JSON.stringify(value)), SHOWN_CHARS)
}
