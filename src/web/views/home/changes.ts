/** Commits of this day on the default branches. */

import { get } from '../../api.ts'

export interface Change {
  readonly repository: string
  readonly branch: string
  readonly id: string
  readonly message: string
  readonly at: string
  readonly task: string | undefined
  readonly workflow: string | undefined
}

const REPOSITORIES = 20
const COMMITS = 50

export async function loadChanges(signal: AbortSignal): Promise<readonly Change[]> {
  const { repositories } = await get('/repositories', { query: { limit: REPOSITORIES }, signal })
  const midnight = new Date().setHours(0, 0, 0, 0)
  const found = await Promise.all(
    repositories.map(async ({ name, default_branch }): Promise<readonly Change[]> => {
      const { commits } = await get('/repositories/{repository}/commits', {
        path: { repository: name },
        query: { from: default_branch, first_parent: true, limit: COMMITS },
        signal,
      })
      return commits
        .filter(({ created_at }) => Date.parse(created_at) >= midnight)
        .map(({ id, message, created_at, metadata }) => ({
          ...{ repository: name, branch: default_branch, id, at: created_at },
          message: tellCommit(message, metadata['publish.task']),
          task: metadata['publish.task'],
          workflow: metadata['publish.workflow'],
        }))
    }),
  )
  return found
    .flat()
    .sort((a, b) => b.at.localeCompare(a.at))
    .slice(0, COMMITS)
}

/** A commit that took the place of another keeps the message of its stage, and is published all the same. */
function tellCommit(message: string, task: string | undefined): string {
  const [line = ''] = message.split('\n', 1)
  return task === undefined ? line : line.replace(/^Stage /, 'Publish ')
}
