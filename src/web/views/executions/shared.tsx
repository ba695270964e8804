/** What the units of an execution share: the values, who sets and uses each, and who has a space of their own. */

import type { ComponentChildren } from 'preact'
import { get, unlessGone, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Beside } from '../../parts/beside.tsx'
import { showShort } from '../../parts/json-tree.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf, replaceQuery, type ViewProps } from '../../route.ts'
import { describeWriter } from './describe-write.ts'
import { latestUnitOf } from './execution-graph.ts'
import type { Execution } from './execution-state.ts'
import { VariableCard } from './variable-card.tsx'

type Value = Schemas['SharedValue']

const EVERY_MS = 5_000
const PAGE = 50
/** More are among the variables. */
const PAGES_MAX = 4

interface SharedProps {
  readonly id: string
  readonly query: ViewProps['query']
  readonly isEnded: boolean
  /** `undefined`: a program keeps it, so that no graph is known. */
  readonly execution?: Execution
}

export function Shared({ id, query, isEnded, execution }: SharedProps) {
  const { data, error, reload } = useLoaded((signal) => load(id, signal), ['shared', id], {
    everyMs: isEnded ? undefined : EVERY_MS,
  })
  const name = query['name']
  return (
    <>
      <h2>Shared by the units of this execution</h2>
      {execution === undefined ? (
        <p>What a plan, or another program, shares among its tasks.</p>
      ) : (
        <Whose execution={execution} />
      )}
      <Problem error={unlessGone(error)} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.values.length === 0 ? (
        <Nothing execution={execution} />
      ) : (
        <Beside detail={name !== undefined && <VariableCard key={name} {...{ id, name, isEnded }} />}>
          <Table
            label="Table of shared values"
            items={data.values}
            columns={columnsOf(id, query, execution)}
            keyOf={(value) => value.name}
          />
          {data.hasMore && (
            <p>
              There are more:{' '}
              <a href={addressOf(['executions', id, 'variables'], { prefix: 'shared.' })}>all of them</a>
            </p>
          )}
        </Beside>
      )}
    </>
  )
}

async function load(id: string, signal: AbortSignal) {
  const values: Value[] = []
  let after: string | undefined
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const query = { limit: PAGE, ...(after !== undefined && { after }) }
    const page = await get('/executions/{execution_id}/shared', { path: { execution_id: id }, query, signal })
    values.push(...page.values)
    after = page.next_after
    if (after === undefined) break
  }
  return { values, hasMore: after !== undefined }
}

function Whose({ execution: { name, parent_execution_id: parent } }: { readonly execution: Execution }) {
  return (
    <>
      <p>
        Conditions read these values as <code>shared.NAME</code>, everything else as{' '}
        <code>{'${workflow.variables.NAME}'}</code>. A retry goes on with them; a rollback to a checkpoint
        sets them back.
      </p>
      <p class="faint">
        Nobody else reaches them. <a href={addressOf(['executions'], { name })}>Other executions of {name}</a>{' '}
        have values of their own
        {parent !== undefined && (
          <>
            , and so has <a href={addressOf(['executions', parent, 'shared'])}>the execution that runs it</a>
          </>
        )}
        .
      </p>
    </>
  )
}

function Nothing({ execution }: { readonly execution: Execution | undefined }) {
  if (execution === undefined) return <Empty>Nothing is shared in it, or it was swept.</Empty>
  return (
    <Empty>
      The units of {execution.name} share nothing. A unit of the type <code>set</code> puts values here.
    </Empty>
  )
}

function columnsOf(
  id: string,
  query: ViewProps['query'],
  execution: Execution | undefined,
): readonly TableColumn<Value>[] {
  const units = execution?.plan_units
  const always: readonly TableColumn<Value>[] = [
    { title: 'Name', isName: true, show: (value) => <Name {...{ id, query, value }} /> },
    {
      title: 'Value',
      show: ({ value }) =>
        value === undefined ? <span class="faint">not set yet</span> : <code>{showShort(value)}</code>,
    },
    { title: 'Last written', show: (value) => <Written value={value} /> },
  ]
  if (units === undefined) return always
  const show = (names: readonly string[], more?: ComponentChildren) => (
    <UnitLinks {...{ id, units, names, more }} />
  )
  return [
    ...always,
    { title: 'Set by', show: ({ set_by: names }) => show(names) },
    {
      title: 'Used by',
      show: ({ used_by: names, used_at_end: isAtEnd }) =>
        show(names, isAtEnd && 'the output or the final check'),
    },
  ]
}

function Name({
  id,
  query,
  value: { name, value },
}: {
  readonly id: string
  readonly query: ViewProps['query']
  readonly value: Value
}) {
  if (value === undefined) return <>{name}</>
  return (
    <a
      href={addressOf(['executions', id, 'shared'], { ...query, name })}
      onClick={(event) => {
        event.preventDefault()
        replaceQuery({ name: query['name'] === name ? undefined : name })
      }}
    >
      {name}
    </a>
  )
}

function Written({ value: { written } }: { readonly value: Value }) {
  if (written === undefined) return <span class="faint">–</span>
  const { at, by } = written
  return (
    <>
      <Time at={at} /> {describeWriter({ kind: at === undefined ? 'unknown' : 'set', by })}
    </>
  )
}

interface UnitLinksProps {
  readonly id: string
  readonly units: Execution['plan_units']
  readonly names: readonly string[]
  readonly more: ComponentChildren
}

function UnitLinks({ id, units, names, more }: UnitLinksProps) {
  if (names.length === 0 && more !== undefined && more !== false) return <>{more}</>
  if (names.length === 0) return <span class="faint">no unit</span>
  return (
    <>
      {names.map((name, index) => (
        <>
          {index > 0 && ', '}
          <a href={addressOf(['executions', id, 'units', latestUnitOf(units, name)])}>{name}</a>
        </>
      ))}
      {more !== undefined && more !== false && <>, {more}</>}
    </>
  )
}
