/** A branch as a graph of commits: who published what, and what has left the line. */

import { useMemo, useState } from 'preact/hooks'
import { useLoaded, usePages } from '../../load.ts'
import { Id } from '../../parts/copy.tsx'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { RecoverLink, showsRecoveries, toVerification } from '../../parts/recovery.tsx'
import { Rows } from '../../parts/rows.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { replaceQuery, type Route } from '../../route.ts'
import { toBranch, toCommit, toPlace, toRepository, toRun } from './addresses.ts'
import { Graph } from './graph.tsx'
import { HistoryRows, type HistoryRow } from './history-rows.ts'
import { moveBetweenRows } from './keys.ts'
import { groupOf, readActorOwner, readStagingOwner, supersededBy } from './names.ts'
import { headlineOf, sayWho } from './publication.ts'
import { readAsides, readCommit, readCommits, type Commit } from './reading.ts'

const PAGE = 200
const HEAD_MS = 10_000
const ROW_PX = 54
/** Lanes beyond are not drawn; the list goes on. */
const LANES_SHOWN = 8

export interface BranchViewProps {
  readonly repository: string
  readonly branch: string
  readonly query: Route['query']
}

export function BranchView({ repository, branch, query }: BranchViewProps) {
  const isOwnLine = query.line === 'own'
  const isPlain = query.beside === 'no'
  const [turn, setTurn] = useState(0)
  const head = useLoaded((signal) => readCommit(repository, branch, signal), [repository, branch], {
    everyMs: HEAD_MS,
  })
  const { items, error, isLoading, hasMore, more } = usePages(
    (after, signal) =>
      readCommits(repository, { from: branch, limit: PAGE, after, firstParent: isOwnLine }, signal),
    [repository, branch, isOwnLine, turn],
  )
  const beside = useLoaded((signal) => readAsides(repository, branch, signal), [repository, branch, turn])
  const rowsOf = useMemo(() => new HistoryRows<Commit>({ isOwnLine }), [isOwnLine])
  const asides = isPlain || beside.data === undefined ? NONE : beside.data.asides
  const rows = useMemo(() => rowsOf.of(items, asides), [rowsOf, items, asides])
  return (
    <>
      <Crumbs
        way={[
          { text: 'Data', to: '#/data' },
          { text: repository, to: toRepository(repository) },
          { text: titleOf(branch) },
        ]}
      />
      <h1>{titleOf(branch)}</h1>
      <div class="bar">
        <a href={toPlace(repository, branch)}>Files</a>
        {groupOf(branch) === 'people' && supersededBy(branch) === undefined && showsRecoveries() && (
          <>
            <a href={toVerification(repository, branch)}>Verify</a>
            <RecoverLink place={{ repository, branch }} text="Recover" />
          </>
        )}
        <Choice name="line" value="own" isOn={isOwnLine} text="Hide commits that came by merges" />
        <Choice name="beside" value="no" isOn={isPlain} text="Hide superseded and refused commits" />
        <Left count={beside.data?.left ?? 0} />
        <Moved isMoved={hasMoved(head.data, items[0])} show={() => setTurn(turn + 1)} />
      </div>
      <Problem error={error} retry={more} />
      <Problem error={beside.error} retry={beside.reload} />
      {rows.length > 0 ? (
        <History {...{ repository, branch, rows, more: hasMore ? more : undefined }} />
      ) : isLoading ? (
        <Loading />
      ) : (
        error === undefined && <Empty>The branch has no commits yet.</Empty>
      )}
    </>
  )
}

const NONE: readonly never[] = []

function titleOf(branch: string): string {
  if (groupOf(branch) === 'people') return branch
  const { task, retry } = readStagingOwner(branch) ?? {}
  if (task !== undefined && retry !== undefined) return `Staging of ${task}, attempt ${String(retry)}`
  const actor = readActorOwner(branch)
  return actor === undefined ? branch : `Staging of ${actor}`
}

function Choice({
  name,
  value,
  isOn,
  text,
}: {
  readonly name: string
  readonly value: string
  readonly isOn: boolean
  readonly text: string
}) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={isOn}
        onChange={() => replaceQuery({ [name]: isOn ? undefined : value })}
      />
      {text}
    </label>
  )
}

function hasMoved(head: Commit | undefined, shown: Commit | undefined): boolean {
  return head !== undefined && shown !== undefined && head.id !== shown.id
}

/** The list stays as it is until asked for, so that nothing moves under the reader. */
function Moved({ isMoved, show }: { readonly isMoved: boolean; readonly show: () => void }) {
  return (
    <span role="status">
      {isMoved && (
        <button type="button" onClick={show}>
          The branch has moved: show it
        </button>
      )}
    </span>
  )
}

function Left({ count }: { readonly count: number }) {
  if (count === 0) return null
  return <span class="faint">{count} more superseded or staged commits are in the repository.</span>
}

function History({
  repository,
  branch,
  rows,
  more,
}: {
  readonly repository: string
  readonly branch: string
  readonly rows: readonly HistoryRow<Commit>[]
  readonly more: (() => void) | undefined
}) {
  // As wide as the widest row so far: a column that follows the rows in sight would jump.
  const lanes = useMemo(
    () =>
      Math.min(
        LANES_SHOWN,
        rows.reduce((most, row) => Math.max(most, row.lanes.width), 1),
      ),
    [rows],
  )
  return (
    <div class={`history lanes-${String(lanes)}`} onKeyDown={moveBetweenRows}>
      <Rows
        label={`Commits of ${branch}`}
        items={rows}
        keyOf={({ commit }) => commit.id}
        rowPx={ROW_PX}
        more={more}
        columns={[
          {
            ...{ title: 'Graph', width: 'w-graph' },
            show: ({ lanes: row, kind, commit }) => (
              <Graph {...{ row, kind, lanes, heightPx: ROW_PX, isMerge: commit.parents.length > 1 }} />
            ),
          },
          {
            ...{ title: 'Commit', width: 'w-commit' },
            show: (row) => <CommitCell {...{ repository, branch, row }} />,
          },
          { ...{ title: 'Id', width: 'w-id w-optional' }, show: ({ commit }) => <Id id={commit.id} /> },
        ]}
      />
    </div>
  )
}

function CommitCell({
  repository,
  branch,
  row,
}: {
  readonly repository: string
  readonly branch: string
  readonly row: HistoryRow<Commit>
}) {
  const { commit, publication, keptBy, kind } = row
  const { workflow, workflowName, codeVersion, refusal, replaces } = publication
  const who = sayWho(publication, commit.message)
  const isOnBranch = kind === 'line' && (publication.branch ?? branch) === branch
  const headline = headlineOf(commit, publication, isOnBranch)
  return (
    <>
      <span class="line-one">
        {kind !== 'line' && <State state={kind} title={refusal?.message ?? keptBy} />}
        <a class="row-link" href={toCommit(repository, commit.id)} title={commit.message}>
          {headline}
        </a>
        {refusal !== undefined && !headline.includes(refusal.code) && (
          <code class="w-optional">{refusal.code}</code>
        )}
      </span>
      <span class="line-two">
        <Time at={commit.created_at} />
        {who === '' ? <span>{commit.committer}</span> : <span>{who}</span>}
        {workflow !== undefined && (
          <a href={toRun(workflow)} title={`workflow ${workflow}`}>
            {workflowName ?? workflow.slice(0, 8)}
          </a>
        )}
        {codeVersion !== undefined && (
          <span class="w-optional" title={`code ${codeVersion}`}>
            code {codeVersion.slice(0, 10)}
          </span>
        )}
        {publication.by === 'claim' && <span>the branch is about to move</span>}
        {replaces !== undefined && <span>in place of {replaces.slice(0, 8)}</span>}
        {row.folded > 0 && <span>with {row.folded} staged</span>}
        {kind !== 'line' && kind !== 'superseded' && keptBy !== undefined && (
          <a href={toBranch(repository, keptBy)} title={keptBy}>
            its branch
          </a>
        )}
      </span>
    </>
  )
}
