/** The objects of a commit, folder by folder, and one of them. */

import { get } from '../../api.ts'
import { useLoaded, usePages } from '../../load.ts'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { Rows } from '../../parts/rows.tsx'
import { showSize, Time } from '../../parts/time.tsx'
import { toBranch, toCommit, toPlace, toRepository } from './addresses.ts'
import { Download } from './download.tsx'
import { moveBetweenRows } from './keys.ts'
import { Preview } from './preview.tsx'
import { readEntry, type ObjectPlace } from './reading.ts'

const PAGE = 1_000

export interface BrowseProps extends ObjectPlace {
  readonly as: string | undefined
}

export function BrowseView({ repository, at, path, as }: BrowseProps) {
  const isObject = path !== '' && !path.endsWith('/')
  return (
    <>
      <Crumbs
        way={[
          { text: 'Data', to: '#/data' },
          { text: repository, to: toRepository(repository) },
          {
            text: isCommitId(at) ? at.slice(0, 8) : at,
            to: isCommitId(at) ? toCommit(repository, at) : toBranch(repository, at),
          },
          ...wayTo({ repository, at, path }),
        ]}
      />
      <h1>{path === '' ? `Files of ${isCommitId(at) ? at.slice(0, 8) : at}` : lastOf(path)}</h1>
      {isObject ? (
        <ObjectView key={path} {...{ repository, at, path, as }} />
      ) : (
        <Folder key={path} {...{ repository, at, path }} />
      )}
    </>
  )
}

function isCommitId(ref: string): boolean {
  return /^[0-9a-f]{64}$/.test(ref)
}

function lastOf(path: string): string {
  return path.slice(path.replace(/\/$/, '').lastIndexOf('/') + 1)
}

function wayTo({ repository, at, path }: ObjectPlace) {
  const names = path.split('/')
  return [
    { text: 'files', ...(path !== '' && { to: toPlace(repository, at) }) },
    ...names.flatMap((name, index) => {
      const upTo = `${names.slice(0, index + 1).join('/')}/`
      if (name === '') return []
      return upTo.length >= path.length
        ? [{ text: name }]
        : [{ text: name, to: toPlace(repository, at, upTo) }]
    }),
  ]
}

function Folder({ repository, at, path }: ObjectPlace) {
  const { items, error, isLoading, hasMore, more } = usePages(
    async (after, signal) => {
      const query = {
        at,
        limit: PAGE,
        ...(path !== '' && { prefix: path }),
        ...(after !== undefined && { after }),
      }
      const found = await get('/repositories/{repository}/objects', { path: { repository }, query, signal })
      return { items: found.entries, next: found.next_after }
    },
    [repository, at, path],
  )
  if (items.length === 0) {
    if (error !== undefined) return <Problem error={error} retry={more} />
    return isLoading ? <Loading /> : <Empty>There are no objects here.</Empty>
  }
  return (
    <>
      <Problem error={error} retry={more} />
      <p class="faint">
        {items.length.toLocaleString()} entries{hasMore && ' so far; more follow as you scroll'}
      </p>
      <div onKeyDown={moveBetweenRows}>
        <Rows
          label={`Objects below ${path === '' ? 'the root' : path}`}
          items={items}
          keyOf={({ path: whole, kind }) => `${kind} ${whole}`}
          more={hasMore ? more : undefined}
          columns={[
            {
              ...{ title: 'Name', width: 'w-text' },
              show: ({ path: whole, kind }) => (
                <a class="row-link" href={toPlace(repository, at, whole)}>
                  {kind === 'prefix' && <span aria-hidden="true">▸ </span>}
                  {whole.slice(path.length)}
                </a>
              ),
            },
            {
              ...{ title: 'Size', width: 'w-number' },
              show: ({ kind, size }) =>
                kind === 'prefix' ? <span class="faint">folder</span> : showSize(size ?? 0),
            },
            {
              ...{ title: 'Modified', width: 'w-time w-optional' },
              show: ({ modified_at: modifiedAt }) => <Time at={modifiedAt} />,
            },
            {
              ...{ title: 'Checksum', width: 'w-id w-optional' },
              show: ({ checksum = '' }) => <code title={checksum}>{checksum.slice(0, 10)}</code>,
            },
          ]}
        />
      </div>
    </>
  )
}

function ObjectView({ as, ...place }: BrowseProps) {
  const { repository, at, path } = place
  const { data, error, reload } = useLoaded(
    async (signal) => ({ entry: await readEntry(place, signal) }),
    [repository, at, path],
  )
  const entry = data?.entry
  if (error !== undefined) return <Problem error={error} retry={reload} />
  if (data === undefined) return <Loading />
  if (entry === undefined) return <Empty>There is no object of this name.</Empty>
  return (
    <>
      <dl class="facts">
        <dt>Size</dt>
        <dd>
          {showSize(entry.size ?? 0)}{' '}
          {(entry.size ?? 0) >= 1_024 && (
            <span class="faint">{(entry.size ?? 0).toLocaleString()} bytes</span>
          )}
        </dd>
        <dt>Modified</dt>
        <dd>
          <Time at={entry.modified_at} />
        </dd>
        <dt>Checksum</dt>
        <dd>
          <code>{entry.checksum}</code>
        </dd>
      </dl>
      <Download {...{ place, sizeBytes: entry.size ?? 0 }} />
      <Preview {...{ repository, path, after: at, as }} />
    </>
  )
}
