import { get } from '../../api.ts'
import { usePages } from '../../load.ts'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows } from '../../parts/rows.tsx'
import { Time } from '../../parts/time.tsx'
import { toBranch, toRepository } from './addresses.ts'
import { moveBetweenRows } from './keys.ts'

export function RepositoriesView() {
  const { items, error, isLoading, hasMore, more } = usePages(async (after, signal) => {
    const query = { limit: 200, ...(after !== undefined && { after }) }
    const found = await get('/repositories', { query, signal })
    return { items: found.repositories, next: found.next_after }
  }, [])
  return (
    <>
      <h1>Repositories</h1>
      <Problem error={error} retry={more} />
      {items.length > 0 ? (
        <div onKeyDown={moveBetweenRows}>
          <Rows
            label="Repositories"
            items={items}
            keyOf={({ name }) => name}
            more={hasMore ? more : undefined}
            columns={[
              {
                ...{ title: 'Name', width: 'w-name' },
                show: ({ name, read_only: isReadOnly }) => (
                  <>
                    <a class="row-link" href={toRepository(name)}>
                      {name}
                    </a>{' '}
                    {isReadOnly && <span class="badge">read-only</span>}
                  </>
                ),
              },
              {
                ...{ title: 'Default branch', width: 'w-name' },
                show: ({ name, default_branch: branch }) => <a href={toBranch(name, branch)}>{branch}</a>,
              },
              {
                ...{ title: 'Created', width: 'w-time w-optional' },
                show: ({ created_at: at }) => <Time at={at} />,
              },
            ]}
          />
        </div>
      ) : isLoading ? (
        <Loading />
      ) : (
        error === undefined && (
          <Empty run="npx perago lakefs --repository orders">
            There is no repository yet. Create one in lakeFS, or start a lakeFS with one on this machine:
          </Empty>
        )
      )}
    </>
  )
}
