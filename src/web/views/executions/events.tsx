/** The events of an execution, as they are recorded. */

import { useEffect, useState } from 'preact/hooks'
import { Beside } from '../../parts/beside.tsx'
import type { FollowState } from '../../parts/follow.ts'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows, type Column } from '../../parts/rows.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf, replaceQuery, type ViewProps } from '../../route.ts'
import { readPatterns, tellPayload, type Event, type EventLog } from './event-log.ts'
import { useEvents } from './use-events.ts'

export interface EventsProps {
  readonly id: string
  readonly query: ViewProps['query']
  readonly isEnded: boolean
}

const COMMON = ['failed', 'retrying', 'external.**', 'pipeline.*', '**.task.*']

export function Events(props: EventsProps) {
  const typed = props.query['type'] ?? ''
  const patterns = readPatterns(typed)
  return (
    <>
      <div class="bar">
        <SearchField
          label="Type"
          value={typed}
          placeholder="failed, ingest.**"
          options={COMMON}
          find={(text) => replaceQuery({ type: text === '' ? undefined : text })}
        />
        <Order isOldestFirst={props.query['order'] === 'oldest'} />
      </div>
      {patterns === undefined ? (
        <p class="problem" role="alert">
          A type has words of letters, digits, <code>_</code> and <code>-</code> with dots between them;{' '}
          <code>*</code> is one word, <code>**</code> any number.
        </p>
      ) : (
        <Log {...props} patterns={patterns} />
      )}
    </>
  )
}

function Order({ isOldestFirst }: { readonly isOldestFirst: boolean }) {
  return (
    <span class="tabs" role="group" aria-label="Order">
      <button type="button" aria-pressed={!isOldestFirst} onClick={() => replaceQuery({ order: undefined })}>
        Newest first
      </button>
      <button type="button" aria-pressed={isOldestFirst} onClick={() => replaceQuery({ order: 'oldest' })}>
        Oldest first
      </button>
    </span>
  )
}

function Log({ id, query, isEnded, patterns }: EventsProps & { readonly patterns: readonly string[] }) {
  // A retry opens an ended execution again, and with it its log.
  const { log, state, error, isLoading, older } = useEvents(id, patterns, isEnded)
  const [held, setHeld] = useState<EventLog | undefined>(undefined)
  useEffect(() => setHeld(undefined), [patterns.join(' ')])
  const { events, hasOlder } = held ?? log
  const isOldestFirst = query['order'] === 'oldest'
  const chosen = events.find(({ sequence }) => String(sequence) === query['event'])
  return (
    <>
      <div class="bar" role="group" aria-label="Stream">
        <Stream state={held === undefined ? state : 'held'} />
        <button
          type="button"
          onClick={() => setHeld(held === undefined ? log : undefined)}
          disabled={state === 'ended'}
        >
          {held === undefined ? 'Pause' : `Continue${tellNew(held, log)}`}
        </button>
        <span class="faint">
          {events.length} shown{hasOlder && ', older ones on demand'}
        </span>
        {hasOlder && isOldestFirst && (
          <button type="button" disabled={isLoading} onClick={older}>
            Load older
          </button>
        )}
      </div>
      <Problem error={error} />
      <Beside detail={chosen && <Chosen key={chosen.sequence} id={id} event={chosen} />}>
        {events.length > 0 ? (
          <Rows
            label="Events"
            items={isOldestFirst ? events : events.toReversed()}
            columns={columnsOf(id, query)}
            keyOf={({ sequence }) => String(sequence)}
            isChosen={({ sequence }) => sequence === chosen?.sequence}
            more={hasOlder && !isOldestFirst && held === undefined ? older : undefined}
          />
        ) : isLoading ? (
          <Loading />
        ) : (
          error === undefined && (
            <Empty>{patterns.length > 0 ? 'No event of these types yet.' : 'No event yet.'}</Empty>
          )
        )}
      </Beside>
    </>
  )
}

function tellNew(held: EventLog, log: EventLog): string {
  const last = held.events.at(-1)?.sequence ?? 0
  const count = log.events.length - log.events.findLastIndex(({ sequence }) => sequence <= last) - 1
  return count === 0 ? '' : `, ${String(count)} new`
}

const STREAM: Readonly<Record<FollowState | 'held', readonly [state: string, text: string]>> = {
  connecting: ['waiting', 'Connects…'],
  live: ['live', 'New events appear here at once.'],
  waiting: ['gone', 'The connection is gone. It is opened again, and nothing is missed.'],
  ended: ['done', 'The execution has ended, and these are all of its events.'],
  failed: ['failed', 'The stream was refused.'],
  held: ['paused', 'New events are held back.'],
}

function Stream({ state }: { readonly state: FollowState | 'held' }) {
  const [sign, text] = STREAM[state]
  return (
    <span role="status">
      <State state={sign} /> {text}
    </span>
  )
}

function columnsOf(id: string, query: ViewProps['query']): readonly Column<Event>[] {
  return [
    { title: 'No.', width: 'w-short', show: ({ sequence }) => sequence },
    { title: 'Time', width: 'w-time w-optional', show: ({ timestamp }) => <Time at={timestamp} /> },
    {
      title: 'Type',
      width: 'w-name',
      show: ({ sequence, type }) => (
        <a
          href={addressOf(['executions', id, 'events'], { ...query, event: String(sequence) })}
          onClick={(event) => {
            event.preventDefault()
            replaceQuery({ event: query['event'] === String(sequence) ? undefined : String(sequence) })
          }}
        >
          {type}
        </a>
      ),
    },
    { title: 'Source', width: 'w-id w-optional', show: ({ source: { entity_id: name } }) => name },
    {
      title: 'What it says',
      width: 'w-text',
      show: (event) => <span class="faint">{tellPayload(event)}</span>,
    },
  ]
}

function Chosen({ id, event }: { readonly id: string; readonly event: Event }) {
  const { sequence, type, timestamp, source, payload } = event
  return (
    <section class="card event" aria-label={`Event ${String(sequence)}`}>
      <h2>
        {type} <span class="faint">no. {sequence}</span>
      </h2>
      <p>
        <Time at={timestamp} />, from the {source.entity_type}{' '}
        {source.entity_type === 'node' || source.entity_type === 'task' ? (
          <a href={addressOf(['executions', id, 'units', source.entity_id])}>{source.entity_id}</a>
        ) : (
          source.entity_id
        )}
      </p>
      <JsonTree value={payload} label="Payload" />
    </section>
  )
}
