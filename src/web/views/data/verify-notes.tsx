/** What a verification noticed besides: it refutes nothing. */

import type { ComponentChildren } from 'preact'
import { Commit } from '../../parts/data-links.tsx'
import { Table, type TableColumn } from '../../parts/table.tsx'
import { session } from '../../session.ts'
import { toRun } from './addresses.ts'
import { say, type Verification } from './verification.ts'

interface NoticedProps {
  readonly repository: string
  readonly found: Verification
}

export function Noticed({ repository, found }: NoticedProps) {
  const { foreign, foreign_count: count, without_fence: unfenced, unknown_workflows: unknown } = found
  const { open_outputs: open } = found
  const showsRuns = session.value?.shows.includes('workflows') === true
  if (count + unfenced.length + unknown.length + open === 0) return null
  return (
    <section aria-labelledby="noticed">
      <h2 id="noticed">Noticed besides</h2>
      <p class="faint">This refutes nothing.</p>
      {unfenced.length > 0 && <Unfenced {...{ repository, unfenced }} />}
      <Named title={`${say(count, 'commit')} not made by perago`} left={count - foreign.length}>
        {foreign.map((id) => (
          <li key={id}>
            <Commit repository={repository} id={id} />
          </li>
        ))}
      </Named>
      <Named
        title={`${say(unknown.length, 'workflow')} that the server does not know: their outputs are not judged`}
      >
        {unknown.map((id) => (
          <li key={id}>{showsRuns ? <a href={toRun(id)}>{id}</a> : id}</li>
        ))}
      </Named>
      {open > 0 && <p>{say(open, 'output')} not judged: they may lie below the end of what was checked.</p>}
    </section>
  )
}

type Publisher = Verification['without_fence'][number]

function Unfenced({
  repository,
  unfenced,
}: {
  readonly repository: string
  readonly unfenced: readonly Publisher[]
}) {
  const columns: readonly TableColumn<Publisher>[] = [
    { title: 'Who', isName: true, show: nameOf },
    { title: 'Commits', show: ({ commits }) => commits.toLocaleString('en') },
    { title: 'Newest', show: ({ newest }) => <Commit repository={repository} id={newest} /> },
    { title: 'Worker', show: ({ worker }) => worker ?? '–' },
  ]
  return (
    <>
      <h3>Published without a hard fence</h3>
      <Table label="Who published without a hard fence" items={unfenced} columns={columns} keyOf={nameOf} />
    </>
  )
}

function nameOf({ kind, name }: Publisher): string {
  return kind === 'python' ? `${name}, which knows no fence` : `${kind} ${name}`
}

const NAMED_SHOWN = 100

function Named({
  title,
  left = 0,
  children,
}: {
  readonly title: string
  readonly left?: number
  readonly children: readonly ComponentChildren[]
}) {
  if (children.length === 0) return null
  const more = left + Math.max(0, children.length - NAMED_SHOWN)
  return (
    <details>
      <summary>{title}</summary>
      <ul class="findings">
        {children.slice(0, NAMED_SHOWN)}
        {more > 0 && <li class="faint">and {more} more</li>}
      </ul>
    </details>
  )
}
