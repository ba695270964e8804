/** What differs between two commits, path by path, and the chosen path inside. */

import { get, type Schemas } from '../../api.ts'
import { usePages } from '../../load.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows } from '../../parts/rows.tsx'
import { showSize } from '../../parts/time.tsx'
import type { Route } from '../../route.ts'
import { toCommit } from './addresses.ts'
import { moveBetweenRows } from './keys.ts'
import { Preview } from './preview.tsx'

type Change = Schemas['PathChange']
const SIGNS: Readonly<Record<Change['change'], string>> = {
  added: '+',
  removed: '−',
  changed: '~',
  conflict: '!',
}
const PAGE = 1_000

export interface ChangesProps {
  readonly repository: string
  readonly from: string
  readonly to: string
  readonly query: Route['query']
}

export function Changes({ repository, from, to, query }: ChangesProps) {
  const { items, error, isLoading, hasMore, more } = usePages(
    async (after, signal) => {
      const asked = { from, to, limit: PAGE, ...(after !== undefined && { after }) }
      const found = await get('/repositories/{repository}/changes', {
        path: { repository },
        query: asked,
        signal,
      })
      return { items: found.changes, next: found.next_after }
    },
    [repository, from, to],
  )
  const chosen = query.path ?? (items.length === 1 ? items[0]?.path : undefined)
  if (items.length === 0) {
    if (error !== undefined) return <Problem error={error} retry={more} />
    return isLoading ? <Loading /> : <Empty>No path differs.</Empty>
  }
  return (
    <>
      <Problem error={error} retry={more} />
      <p class="faint">{sayCounts(items, hasMore)}</p>
      <div class="side-by-side">
        <div class="fitting" onKeyDown={moveBetweenRows}>
          <Rows
            label="Changed paths"
            items={items}
            keyOf={({ path }) => path}
            more={hasMore ? more : undefined}
            isChosen={({ path }) => path === chosen}
            columns={[
              { ...{ title: 'Kind', width: 'w-kind' }, show: ({ change }) => <Kind change={change} /> },
              {
                ...{ title: 'Path', width: 'w-text' },
                show: ({ path }) => (
                  <a
                    class="row-link"
                    href={toCommit(repository, to, { against: query.against, path })}
                    aria-current={path === chosen ? 'true' : undefined}
                    title={path}
                  >
                    {path}
                  </a>
                ),
              },
              {
                ...{ title: 'Size', width: 'w-number' },
                show: ({ size }) => (size === undefined ? '' : showSize(size)),
              },
            ]}
          />
        </div>
        {chosen === undefined ? (
          <p class="faint">Choose a path to see what changed in it.</p>
        ) : (
          <Preview
            key={chosen}
            {...{ repository, path: chosen, as: query.as, isChosen: true }}
            {...sidesOf(items.find(({ path }) => path === chosen)?.change, { from, to })}
          />
        )}
      </div>
    </>
  )
}

function Kind({ change }: { readonly change: Change['change'] }) {
  return (
    <span class={`kind kind-${change}`}>
      <span aria-hidden="true">{SIGNS[change]}</span> {change}
    </span>
  )
}

function sidesOf(
  change: Change['change'] | undefined,
  { from, to }: Pick<ChangesProps, 'from' | 'to'>,
): { readonly before?: string; readonly after?: string } {
  if (change === 'added') return { after: to }
  return change === 'removed' ? { before: from } : { before: from, after: to }
}

function sayCounts(items: readonly Change[], hasMore: boolean): string {
  const kinds = Object.keys(SIGNS) as Change['change'][]
  const counts = kinds
    .map((kind) => [kind, items.filter(({ change }) => change === kind).length] as const)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${String(count)} ${kind}`)
  return `${counts.join(', ')}${hasMore ? ' so far; more follow as you scroll' : ''}`
}
