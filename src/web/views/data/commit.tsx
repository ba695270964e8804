/** One commit: what it says, and what it changed. */

import { useState } from 'preact/hooks'
import { useLoaded } from '../../load.ts'
import { Id } from '../../parts/copy.tsx'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { showsRecoveries, toVerification } from '../../parts/recovery.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { goTo, type Route } from '../../route.ts'
import { toBranch, toCommit, toPlace, toRepository } from './addresses.ts'
import { Changes } from './changes.tsx'
import { Facts, Metadata } from './facts.tsx'
import { readPublication } from './publication.ts'
import { listTags, readCommit, readDefaultBranch, type Commit } from './reading.ts'

export interface CommitViewProps {
  readonly repository: string
  readonly id: string
  readonly query: Route['query']
}

export function CommitView({ repository, id, query }: CommitViewProps) {
  const { data, error, reload } = useLoaded(
    async (signal) => ({ commit: await readCommit(repository, id, signal) }),
    [repository, id],
  )
  const commit = data?.commit
  return (
    <>
      <Crumbs
        way={[
          { text: 'Data', to: '#/data' },
          { text: repository, to: toRepository(repository) },
          { text: <>Commit {id.slice(0, 8)}</> },
        ]}
      />
      <Problem error={error} retry={reload} />
      {commit !== undefined ? (
        <Shown {...{ repository, commit, query }} />
      ) : error === undefined && data === undefined ? (
        <Loading />
      ) : (
        error === undefined && <Empty>There is no such commit.</Empty>
      )}
    </>
  )
}

function Shown({
  repository,
  commit,
  query,
}: {
  readonly repository: string
  readonly commit: Commit
  readonly query: Route['query']
}) {
  const { id, parents, message } = commit
  const [title = '', ...more] = message.split('\n')
  const from = query.against ?? parents[0]
  const body = more.join('\n').trim()
  return (
    <>
      <h1>{title === '' ? 'No message' : title}</h1>
      {body !== '' && <pre class="message">{body}</pre>}
      <Kept {...{ repository, id }} />
      <dl class="facts">
        <dt>Commit</dt>
        <dd>
          <Id id={id} digits={16} /> <a href={toPlace(repository, id)}>Files</a>{' '}
          {showsRecoveries() && <Verify {...{ repository, commit }} />}
        </dd>
        <dt>When</dt>
        <dd>
          <Time at={commit.created_at} /> <span class="faint">by {commit.committer}</span>
        </dd>
        <dt>{parents.length > 1 ? 'Parents' : 'Parent'}</dt>
        <dd>
          {parents.length === 0 && 'none: the first commit'}
          {parents.map((parent) => (
            <a key={parent} class="part" href={toCommit(repository, parent)}>
              <code>{parent.slice(0, 8)}</code>
            </a>
          ))}
        </dd>
        <Facts {...{ repository, publication: readPublication(commit) }} />
      </dl>
      <Metadata {...{ repository, metadata: commit.metadata }} />
      <h2>Changes</h2>
      {from === undefined ? (
        <Empty>
          Nothing was there before. <a href={toPlace(repository, id)}>Its files</a>.
        </Empty>
      ) : (
        <>
          <Against key={from} {...{ repository, commit, from, path: query.path }} />
          <Changes key={`${from} ${id}`} {...{ repository, from, to: id, query }} />
        </>
      )}
    </>
  )
}

/** Of its branch, down to here; of the default branch where it does not say which one it is for. */
function Verify({ repository, commit }: { readonly repository: string; readonly commit: Commit }) {
  const told = readPublication(commit).branch
  const { data } = useLoaded(
    (signal) => (told === undefined ? readDefaultBranch(repository, signal) : Promise.resolve(told)),
    [repository, told],
  )
  if (data === undefined) return null
  return (
    <a href={toVerification(repository, data, { since: commit.parents[0] })}>Verify {data} down to here</a>
  )
}

/** Whether a tag keeps it, because it has left its branch. */
function Kept({ repository, id }: { readonly repository: string; readonly id: string }) {
  const { data } = useLoaded(
    (signal) => listTags(repository, signal, `perago-superseded-${id}`),
    [repository, id],
  )
  const tag = data?.items[0]?.name
  if (tag === undefined) return null
  return (
    <p>
      <State state="superseded" /> It has left its branch. The tag{' '}
      <a href={toBranch(repository, tag)}>{tag.slice(0, 26)}…</a> keeps it.
    </p>
  )
}

/** What the changes are shown against. */
function Against({
  repository,
  commit: { id, parents, metadata },
  from,
  path,
}: {
  readonly repository: string
  readonly commit: Commit
  readonly from: string
  readonly path: string | undefined
}) {
  const [text, setText] = useState(from)
  const known: readonly (readonly [string, string])[] = [
    ...parents.map(
      (parent, index) => [parent, index === 0 ? 'first parent' : `parent ${String(index + 1)}`] as const,
    ),
    ...['input', 'replaces'].flatMap((key) => {
      const ref = metadata[`publish.${key}`]
      return ref === undefined || parents.includes(ref)
        ? []
        : [[ref, key === 'input' ? 'its input' : 'what it replaces'] as const]
    }),
  ]
  const compare = (event: Event): void => {
    event.preventDefault()
    if (text.trim() !== '') goTo(toCommit(repository, id, { against: text.trim(), path }))
  }
  const told = known.find(([ref]) => ref === from)?.[1]
  return (
    <form class="bar" onSubmit={compare}>
      <label class="choice">
        Against
        <input
          list="refs-to-compare"
          value={text}
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <datalist id="refs-to-compare">
        {known.map(([ref, name]) => (
          <option key={ref} value={ref} label={name} />
        ))}
      </datalist>
      <button type="submit" disabled={text.trim() === '' || text.trim() === from}>
        Compare
      </button>
      <span class="faint">{told ?? 'a branch, a tag or a commit'}</span>
    </form>
  )
}
