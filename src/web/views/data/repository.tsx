/** What a repository has: people's branches first, then what perago made. */

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLoaded } from '../../load.ts'
import { Id } from '../../parts/copy.tsx'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows, type Column } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import { toBranch, toCommit, toPlace, toRun } from './addresses.ts'
import { isStagedOn } from './asides.ts'
import { HeadOf } from './heads.tsx'
import { moveBetweenRows } from './keys.ts'
import { groupOf, readActorOwner, readStagingOwner, supersededBy } from './names.ts'
import { headlineOf, readPublication } from './publication.ts'
import { listBranches, listTags, readDefaultBranch, type NamedRef } from './reading.ts'

export function RepositoryView({ repository }: { readonly repository: string }) {
  const { data, error, reload } = useLoaded((signal) => listBranches(repository, signal), [repository], {
    everyMs: 15_000,
  })
  const known = useLoaded((signal) => readDefaultBranch(repository, signal), [repository])
  const tags = useLoaded((signal) => listTags(repository, signal), [repository])
  return (
    <>
      <Crumbs way={[{ text: 'Data', to: '#/data' }, { text: repository }]} />
      <h1>{repository}</h1>
      <Problem error={error} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Branches {...{ repository, of: data, first: known.data }} />
      )}
      <Problem error={tags.error} retry={tags.reload} />
      {tags.data !== undefined && <Tags {...{ repository, tags: tags.data.items }} />}
    </>
  )
}

function Branches({
  repository,
  of: { items, isCut },
  first,
}: {
  readonly repository: string
  readonly first: string | undefined
  readonly of: { readonly items: readonly NamedRef[]; readonly isCut: boolean }
}) {
  const group = (wanted: ReturnType<typeof groupOf>): readonly NamedRef[] =>
    items
      .filter(({ name }) => groupOf(name) === wanted)
      .sort((one, other) => Number(other.name === first) - Number(one.name === first))
  return (
    <>
      <h2>Branches</h2>
      {isCut && <p class="faint">There are more branches than are shown here.</p>}
      <Refs label="Branches" of={group('people')} columns={peopleColumns(repository, first)} />
      <Group title="Staging branches of tasks" of={group('staging')}>
        <p class="faint">
          A worker removes its staging branch when it has published. One that stays was refused, or its worker
          was stopped; it keeps what the task had made.
        </p>
        <Refs label="Staging branches" of={group('staging')} columns={stagingColumns(repository)} />
      </Group>
      <Group title="Staging branches of actors" of={group('actor')}>
        <Refs label="Staging branches of actors" of={group('actor')} columns={actorColumns(repository)} />
      </Group>
      <Group title="Turns of workers that clean up" of={group('look')}>
        <Refs label="Turns of workers" of={group('look')} columns={lookColumns(repository)} />
      </Group>
    </>
  )
}

function Tags({ repository, tags }: { readonly repository: string; readonly tags: readonly NamedRef[] }) {
  const own = tags.filter(({ name }) => supersededBy(name) === undefined)
  const superseded = tags.filter(({ name }) => supersededBy(name) !== undefined)
  return (
    <>
      {own.length > 0 && <h2>Tags</h2>}
      {own.length > 0 && <Refs label="Tags" of={own} columns={tagColumns(repository)} />}
      <Group title="Superseded commits" of={superseded}>
        <p class="faint">
          They left their branch when another attempt took their place, and are kept by a tag.
        </p>
        <Refs label="Superseded commits" of={superseded} columns={supersededColumns(repository)} />
      </Group>
    </>
  )
}

/** Its rows are made, and their heads asked for, only once it is open. */
function Group({
  title,
  of,
  children,
}: {
  readonly title: string
  readonly of: readonly NamedRef[]
  readonly children: ComponentChildren
}) {
  const [isOpen, setOpen] = useState(false)
  if (of.length === 0) return null
  return (
    <details class="group" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {title} <span class="count">{of.length}</span>
      </summary>
      {isOpen && children}
    </details>
  )
}

type Shown = readonly Column<NamedRef>[]

function Refs({
  label,
  of,
  columns,
}: {
  readonly label: string
  readonly of: readonly NamedRef[]
  readonly columns: Shown
}) {
  if (of.length === 0) return <Empty>There are none.</Empty>
  return (
    <div class="fitting" onKeyDown={moveBetweenRows}>
      <Rows {...{ label, columns }} items={of} keyOf={({ name }) => name} />
    </div>
  )
}

const whenColumn = (repository: string, title: string): Shown[number] => ({
  ...{ title, width: 'w-when' },
  show: ({ commit }) => (
    <HeadOf {...{ repository, commit }}>{({ created_at: at }) => <Ago at={at} />}</HeadOf>
  ),
})

const headColumns = (repository: string): Shown => [
  {
    ...{ title: 'Last commit', width: 'w-text w-optional' },
    show: ({ commit }) => (
      <HeadOf {...{ repository, commit }}>
        {(head) => <a href={toCommit(repository, commit)}>{headlineOf(head, readPublication(head), true)}</a>}
      </HeadOf>
    ),
  },
  whenColumn(repository, 'When'),
]

const peopleColumns = (repository: string, first: string | undefined): Shown => [
  {
    ...{ title: 'Name', width: 'w-name' },
    show: ({ name }) => (
      <>
        <a class="row-link" href={toBranch(repository, name)}>
          {name}
        </a>{' '}
        {name === first && <span class="badge">default</span>}
      </>
    ),
  },
  ...headColumns(repository),
  { ...{ title: 'Commit', width: 'w-id w-optional' }, show: ({ commit }) => <Id id={commit} /> },
  {
    ...{ title: 'Data', width: 'w-short' },
    show: ({ name }) => (
      <a href={toPlace(repository, name)} aria-label={`Files of ${name}`}>
        files
      </a>
    ),
  },
]

const stagingColumns = (repository: string): Shown => [
  {
    ...{ title: 'Task', width: 'w-name' },
    show: ({ name }) => {
      const { task, retry } = readStagingOwner(name) ?? { task: name, retry: undefined }
      return (
        <a class="row-link" href={toBranch(repository, name)} title={name}>
          {task}
          {retry !== undefined && `, attempt ${String(retry)}`}
        </a>
      )
    },
  },
  {
    ...{ title: 'Workflow', width: 'w-id w-optional' },
    show: ({ name }) => {
      const workflow = readStagingOwner(name)?.workflow
      if (workflow === undefined) return <span class="faint">–</span>
      return (
        <a href={toRun(workflow)} title={workflow}>
          <code>{workflow.slice(0, 8)}</code>
        </a>
      )
    },
  },
  {
    ...{ title: 'State', width: 'w-text' },
    show: (of) => <StagingState {...{ repository, of }} />,
  },
  whenColumn(repository, 'Last commit'),
]

const actorColumns = (repository: string): Shown => [
  {
    ...{ title: 'Actor and subject', width: 'w-name' },
    show: ({ name }) => (
      <a class="row-link" href={toBranch(repository, name)} title={name}>
        {readActorOwner(name) ?? name}
      </a>
    ),
  },
  {
    ...{ title: 'State', width: 'w-text' },
    show: (of) => <StagingState {...{ repository, of }} />,
  },
  whenColumn(repository, 'Last commit'),
]

function StagingState({
  repository,
  of: { name, commit },
}: {
  readonly repository: string
  readonly of: NamedRef
}) {
  return (
    <HeadOf {...{ repository, commit }}>
      {(head) => {
        const { refusal, run } = readPublication(head)
        if (refusal === undefined) {
          return <State state={isStagedOn(name, run) ? 'staged' : 'started'} />
        }
        return (
          <>
            <State state="refused" title={refusal.message} /> <code class="w-optional">{refusal.code}</code>
          </>
        )
      }}
    </HeadOf>
  )
}

const lookColumns = (repository: string): Shown => [
  {
    ...{ title: 'Name', width: 'w-name' },
    show: ({ name }) => (
      <a class="row-link" href={toBranch(repository, name)}>
        {name}
      </a>
    ),
  },
  { ...{ title: 'At commit', width: 'w-id' }, show: ({ commit }) => <Id id={commit} /> },
]

const tagColumns = (repository: string): Shown => [
  {
    ...{ title: 'Name', width: 'w-name' },
    show: ({ name, commit }) => (
      <a class="row-link" href={toCommit(repository, commit)}>
        {name}
      </a>
    ),
  },
  ...headColumns(repository),
  { ...{ title: 'Commit', width: 'w-id' }, show: ({ commit }) => <Id id={commit} /> },
]

const supersededColumns = (repository: string): Shown => [
  {
    ...{ title: 'Commit', width: 'w-id' },
    show: ({ name, commit }) => (
      <a class="row-link" href={toCommit(repository, commit)} title={name}>
        <code>{commit.slice(0, 8)}</code>
      </a>
    ),
  },
  ...headColumns(repository),
]
