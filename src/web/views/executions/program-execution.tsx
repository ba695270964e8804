/** An execution that a program keeps with `perago/core`, such as the shared space of a plan: no engine knows more of it. */

import { get, unlessGone } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Id } from '../../parts/copy.tsx'
import { Fact, Facts } from '../../parts/facts.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Time } from '../../parts/time.tsx'
import type { ViewProps } from '../../route.ts'
import { Events } from './events.tsx'
import { Shared } from './shared.tsx'
import { Variables } from './variables.tsx'

const TABS = [
  { name: '', title: 'Events' },
  { name: 'variables', title: 'Variables' },
  { name: 'shared', title: 'Shared' },
]
const EVERY_MS = 5_000
const ENDS = ['pipeline.completed', 'pipeline.failed', 'pipeline.cancelled'] as const

interface ProgramExecutionProps {
  readonly id: string
  readonly side: string
  readonly query: ViewProps['query']
  /** Why the engine does not show it. */
  readonly refusal: unknown
}

export function ProgramExecution({ id, side, query, refusal }: ProgramExecutionProps) {
  const { data, error } = useLoaded((signal) => load(id, signal), ['program execution', id], {
    everyMs: EVERY_MS,
  })
  if (data === undefined)
    return (
      <>
        <h1>Execution</h1>
        {error === undefined ? (
          <Loading />
        ) : (
          <Problem error={unlessGone(error) === undefined ? error : refusal} />
        )}
      </>
    )
  const { name, state, startedAt, endedAt } = data
  const isEnded = endedAt !== undefined
  return (
    <>
      <h1>
        {name} <State state={state} />
      </h1>
      <Facts>
        <Fact name="Id">
          <Id id={id} digits={36} />
        </Fact>
        <Fact name="Started">
          <Time at={startedAt} />
        </Fact>
        {isEnded && (
          <Fact name="Ended">
            <Time at={endedAt} />
          </Fact>
        )}
      </Facts>
      <p class="faint">
        A program keeps it with perago/core. The engine of this server does not run it, so there are no units,
        checkpoints or operations.
      </p>
      <Problem error={unlessGone(error)} />
      <Tabs at={['executions', id]} tabs={TABS} chosen={side} />
      {side === '' ? (
        <Events {...{ id, query, isEnded }} />
      ) : side === 'variables' ? (
        <Variables {...{ id, query, isEnded }} />
      ) : side === 'shared' ? (
        <Shared {...{ id, query, isEnded }} />
      ) : (
        <Empty>It has no side “{side}”.</Empty>
      )}
    </>
  )
}

async function load(id: string, signal: AbortSignal) {
  const query = { type: ['pipeline.started', ...ENDS], limit: 10 }
  const { events } = await get('/executions/{execution_id}/events', {
    path: { execution_id: id },
    query,
    signal,
  })
  const [started] = events.filter(({ type }) => type === 'pipeline.started')
  const ended = events.findLast(({ type }) => (ENDS as readonly string[]).includes(type))
  return {
    name: started?.source.entity_id ?? 'Execution',
    startedAt: started?.timestamp,
    endedAt: ended?.timestamp,
    state: ended?.type.split('.')[1] ?? 'running',
  }
}
