/** One execution: what it is, and its sides. */

import { useState } from 'preact/hooks'
import { ApiError, get, unlessGone } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Id } from '../../parts/copy.tsx'
import { Crumbs, type Crumb } from '../../parts/crumbs.tsx'
import { Fact, Facts } from '../../parts/facts.tsx'
import { Failure } from '../../parts/failure.tsx'
import { JsonTree } from '../../parts/json-tree.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { showLength, Time, useNow } from '../../parts/time.tsx'
import { addressOf, type ViewProps } from '../../route.ts'
import { session } from '../../session.ts'
import { Checkpoints } from './checkpoints.tsx'
import { ExecutionRemedies } from './execution-remedies.tsx'
import { isEnded, type Execution } from './execution-state.ts'
import { Events } from './events.tsx'
import { Standing } from './list.tsx'
import { Operations } from './operations.tsx'
import { Overview } from './overview.tsx'
import { UnitPage } from './unit.tsx'
import { ProgramExecution } from './program-execution.tsx'
import { Shared } from './shared.tsx'
import { Variables } from './variables.tsx'

const TABS = [
  { name: '', title: 'Units' },
  { name: 'events', title: 'Events' },
  { name: 'variables', title: 'Variables' },
  { name: 'shared', title: 'Shared' },
  { name: 'checkpoints', title: 'Checkpoints' },
  { name: 'values', title: 'Input and output' },
]
const OPEN_MS = 2_000
const ENDED_MS = 15_000

export interface ExecutionPageProps {
  readonly id: string
  readonly side: string
  /** Of a unit. */
  readonly name: string | undefined
  readonly query: ViewProps['query']
}

export function ExecutionPage(props: ExecutionPageProps) {
  const { id, side } = props
  const path = { execution_id: id }
  const [everyMs, setEveryMs] = useState(OPEN_MS)
  const { data, error, reload } = useLoaded(
    async (signal) => {
      const execution = await get('/executions/{execution_id}', { path, signal })
      // An ended one may be tried again by somebody else.
      setEveryMs(isEnded(execution) ? ENDED_MS : OPEN_MS)
      return execution
    },
    ['execution', id],
    { everyMs },
  )
  const at = ['executions', id]
  const way = [{ text: 'Executions', to: addressOf(['executions']) }]
  if (data === undefined)
    return (
      <>
        <Crumbs way={[...way, { text: id.slice(0, 8) }]} />
        {error instanceof ApiError && error.status === 404 ? (
          <ProgramExecution {...{ ...props, refusal: error }} />
        ) : (
          <>
            <h1>Execution</h1>
            {error === undefined ? <Loading /> : <Problem error={error} retry={reload} />}
          </>
        )}
      </>
    )
  return (
    <>
      <Crumbs way={[...way, ...wayOf(data, props)]} />
      <h1>
        {data.name} <Standing execution={data} />
      </h1>
      <ExecutionFacts execution={data} />
      <Failure reason={data.reason} />
      <ExecutionRemedies execution={data} />
      <Problem error={unlessGone(error)} />
      <Operations execution={data} onDone={reload} />
      <Tabs at={at} tabs={TABS} chosen={side === 'units' ? '' : side} />
      <Side {...props} execution={data} reload={reload} />
    </>
  )
}

function wayOf(
  { name, execution_id: id }: Execution,
  { side, name: unit }: Pick<ExecutionPageProps, 'side' | 'name'>,
): readonly Crumb[] {
  const text = `${name} ${id.slice(0, 8)}`
  return side === 'units' && unit !== undefined
    ? [{ text, to: addressOf(['executions', id]) }, { text: unit }]
    : [{ text }]
}

interface SideProps extends ExecutionPageProps {
  readonly execution: Execution
  readonly reload: () => void
}

function Side({ id, side, name, query, execution, reload }: SideProps) {
  if (side === '') return <Overview execution={execution} />
  if (side === 'units' && name !== undefined)
    return <UnitPage key={name} {...{ execution, unit: name, reload }} />
  if (side === 'events') return <Events {...{ id, query, isEnded: isEnded(execution) }} />
  if (side === 'variables')
    return <Variables {...{ id, query, isEnded: isEnded(execution), updatedAt: execution.updated_at }} />
  if (side === 'shared') return <Shared {...{ id, query, execution, isEnded: isEnded(execution) }} />
  if (side === 'checkpoints') return <Checkpoints {...{ execution, query, reload }} />
  if (side === 'values') return <Values execution={execution} />
  return <Empty>An execution has no side “{side}”.</Empty>
}

function ExecutionFacts({ execution }: { readonly execution: Execution }) {
  const { execution_id: id, version, run, attempt, phase, started_at, updated_at } = execution
  const { parent_execution_id: parent } = execution
  const isShown = session.value?.shows.includes('workflows') === true
  return (
    <Facts>
      <Fact name="Id">
        <Id id={id} digits={36} />
      </Fact>
      <Fact name="Version">{version}</Fact>
      <Fact name="Run">
        {run}
        {attempt > 1 && `, attempt ${String(attempt)} after a rollback`}
      </Fact>
      {phase !== undefined && <Fact name="Phase">{phase}</Fact>}
      <Fact name="Started">
        <Time at={started_at} />
      </Fact>
      <Fact name={isEnded(execution) ? 'Took' : 'Running for'}>
        <Length from={started_at} to={isEnded(execution) ? updated_at : undefined} />
      </Fact>
      {parent !== undefined && (
        <Fact name="Run by">
          <a href={addressOf(['executions', parent])}>{parent.slice(0, 8)}</a>
        </Fact>
      )}
      {isShown && (
        <Fact name="Tasks">
          <a href={addressOf(['runs', id])}>attempts, logs and publications</a>
        </Fact>
      )}
    </Facts>
  )
}

/** Up to now where it has no end. */
function Length({ from, to }: { readonly from: string; readonly to: string | undefined }) {
  const now = useNow(to === undefined ? 1_000 : ENDED_MS)
  return <>{showLength(Math.max(0, (to === undefined ? now : Date.parse(to)) - Date.parse(from)))}</>
}

function Values({ execution: { input, output, left_out: leftOut = [] } }: { readonly execution: Execution }) {
  return (
    <div class="columns">
      <section>
        <h2>Input</h2>
        {leftOut.includes('input') ? <TooLarge /> : <JsonTree value={input ?? {}} label="Input" />}
      </section>
      <section>
        <h2>Output</h2>
        {leftOut.includes('output') ? (
          <TooLarge />
        ) : output === undefined ? (
          <Empty>There is none before the end.</Empty>
        ) : (
          <JsonTree value={output} label="Output" />
        )}
      </section>
    </div>
  )
}

function TooLarge() {
  return <Empty>It is too large for this answer; its parts are among the variables.</Empty>
}
