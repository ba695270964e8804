import type { ViewProps } from '../../route.ts'
import { Empty } from '../../parts/problem.tsx'
import { BranchView } from './branch.tsx'
import { BrowseView } from './browse.tsx'
import { CommitView } from './commit.tsx'
import { RepositoriesView } from './repositories.tsx'
import { RepositoryView } from './repository.tsx'
import { VerifyView } from './verify.tsx'
import './data.css'

export function DataView(props: ViewProps) {
  return (
    <div class="data-view">
      <Chosen {...props} />
    </div>
  )
}

function Chosen({ parts, query }: ViewProps) {
  const [repository, kind, name, ...rest] = parts
  if (repository === undefined) return <RepositoriesView />
  if (kind === undefined) return <RepositoryView key={repository} repository={repository} />
  if (name !== undefined && rest.length === 0) {
    const key = [repository, kind, name].join('/')
    if (kind === 'branches') return <BranchView key={key} {...{ repository, branch: name, query }} />
    if (kind === 'commits') return <CommitView key={key} {...{ repository, id: name, query }} />
    if (kind === 'at')
      return <BrowseView key={key} {...{ repository, at: name, path: query.path ?? '', as: query.as }} />
  }
  if (kind === 'branches' && name !== undefined && rest[0] === 'verify' && rest.length === 1)
    return <VerifyView key={`${repository}/${name}`} {...{ repository, branch: name, query }} />
  return <Empty>There is no such view of {repository}. An address has branches, commits or at.</Empty>
}
