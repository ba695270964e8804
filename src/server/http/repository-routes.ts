/** Repositories, branches, commits, changes and objects of lakeFS over HTTP, for those who look. */

import type { Hono } from 'hono'
import { z } from 'zod'
import { defined } from '../../base/defined.ts'
import { MissingError } from '../../base/errors.ts'
import { repositoryName, type RepositoryName } from '../../base/ids.ts'
import type { RepositoryView } from '../../runtime/views/repository-view.ts'
import { requireRight } from '../access/callers.ts'
import { API_OBJECT_PART_MAX_BYTES, API_PAGE_EVENTS, API_PAGE_MAX_EVENTS } from '../limits.ts'
import type { Asked, HttpEnvironment } from './environment.ts'
import { once, readQuery, refName, wholeNumber } from './read-request.ts'

const path = z.string().max(1_024)
const PAGE = {
  prefix: once(path),
  after: once(path),
  limit: once(wholeNumber({ least: 1, most: API_PAGE_MAX_EVENTS })),
}

export function addRepositoryRoutes(app: Hono<HttpEnvironment>, view: RepositoryView | undefined): void {
  const open = (asked: Asked): RepositoryView => {
    requireRight(asked.get('caller'), 'look at repositories')
    if (view !== undefined && asked.get('caller').tenant === undefined) return view
    throw new MissingError('api/no-repositories', 'look at repositories: this server shows none', {
      next: 'Start it with a lakeFS, and ask with a token of the default tenant.',
    })
  }
  app.get('/repositories', async (asked) => {
    const shown = open(asked)
    const { items, next } = await shown.repositories(pageOf(asked, readQuery(asked.req.url, PAGE)))
    const repositories = items.map(({ repository, defaultBranch, createdAt, readOnly }) => ({
      ...{ name: repository, default_branch: defaultBranch },
      ...{ created_at: createdAt.toISOString(), read_only: readOnly },
    }))
    return asked.json({ repositories, ...nextOf(next) })
  })
  for (const list of ['branches', 'tags'] as const) {
    app.get(`/repositories/:repository/${list}`, async (asked) => {
      const shown = open(asked)
      const page = pageOf(asked, readQuery(asked.req.url, PAGE))
      const { items, next } = await shown[list](repositoryOf(asked), page)
      return asked.json({ [list]: items, ...nextOf(next) })
    })
  }
  app.get('/repositories/:repository/commits', async (asked) => {
    const shown = open(asked)
    const {
      from,
      first_parent: firstParent,
      ...page
    } = readQuery(asked.req.url, {
      from: once(refName()).refine((given) => given !== undefined, 'is missing'),
      first_parent: once(z.enum(['true', 'false'])),
      after: once(z.string().regex(/^[0-9a-f]{1,64}$/, 'must be the id of a commit')),
      limit: PAGE.limit,
    })
    const wanted = { from: from ?? '', firstParent: firstParent === 'true', ...pageOf(asked, page) }
    const { items, next } = await shown.commits(repositoryOf(asked), wanted)
    const commits = items.map(({ ref, parents, message, committer, createdAt, metadata }) => ({
      ...{ id: ref, parents, message, committer, metadata },
      created_at: createdAt.toISOString(),
    }))
    return asked.json({ commits, ...nextOf(next) })
  })
  addTreeRoutes(app, open)
}

function addTreeRoutes(app: Hono<HttpEnvironment>, open: (asked: Asked) => RepositoryView): void {
  const needed = once(refName()).refine((given) => given !== undefined, 'is missing')
  app.get('/repositories/:repository/changes', async (asked) => {
    const shown = open(asked)
    const { from = '', to = '', ...page } = readQuery(asked.req.url, { from: needed, to: needed, ...PAGE })
    const { items, next } = await shown.changes(repositoryOf(asked), { from, to, ...pageOf(asked, page) })
    const changes = items.map(({ path: changed, change, sizeBytes }) => ({
      ...{ path: changed, change },
      ...defined({ size: sizeBytes }),
    }))
    return asked.json({ changes, ...nextOf(next) })
  })
  app.get('/repositories/:repository/objects', async (asked) => {
    const shown = open(asked)
    const { at = '', ...page } = readQuery(asked.req.url, { at: needed, ...PAGE })
    const { items, next } = await shown.objects(repositoryOf(asked), { at, ...pageOf(asked, page) })
    const entries = items.map((entry) =>
      entry.kind === 'prefix'
        ? { kind: entry.kind, path: entry.path }
        : {
            ...{ kind: entry.kind, path: entry.path, size: entry.sizeBytes, checksum: entry.checksum },
            modified_at: entry.modifiedAt.toISOString(),
          },
    )
    return asked.json({ entries, ...nextOf(next) })
  })
  app.get('/repositories/:repository/object', async (asked) => {
    const shown = open(asked)
    const {
      at = '',
      path: wanted = '',
      ...part
    } = readQuery(asked.req.url, {
      at: needed,
      path: once(path.min(1, 'must not be empty')).refine((given) => given !== undefined, 'is missing'),
      start: once(wholeNumber({ least: 0, most: Number.MAX_SAFE_INTEGER })),
      length: once(wholeNumber({ least: 1, most: API_OBJECT_PART_MAX_BYTES })),
    })
    const { start = 0, length = API_OBJECT_PART_MAX_BYTES } = part
    const place = { repository: repositoryOf(asked), at, path: wanted, start, length }
    const { bytes, sizeBytes } = await shown.readObject({ ...place, signal: asked.req.raw.signal })
    return new Response(Uint8Array.from(bytes), {
      headers: {
        'content-type': 'application/octet-stream',
        'content-disposition': 'attachment',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'perago-object-size': String(sizeBytes),
      },
    })
  })
}

interface PageQuery {
  readonly prefix?: string | undefined
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

function pageOf(asked: Asked, { prefix, after, limit = API_PAGE_EVENTS }: PageQuery) {
  return { prefix, after, limit, signal: asked.req.raw.signal }
}

function nextOf(next: string | undefined): { readonly next_after?: string } {
  return defined({ next_after: next })
}

function repositoryOf(asked: Asked): RepositoryName {
  return repositoryName(asked.req.param('repository') ?? '')
}
