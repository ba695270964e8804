/** The hard fences of a repository's branches: what they are, and their installation. */

import { systemClock } from '../base/clock.ts'
import { MissingError } from '../base/errors.ts'
import { branchName, repositoryName, type RepositoryName } from '../base/ids.ts'
import type { Logger } from '../base/logger.ts'
import type { RetryPolicy } from '../base/retry.ts'
import { readBranchProtection, readRepository, setBranchProtection } from '../lakefs/administration.ts'
import type { LakefsClient } from '../lakefs/client.ts'
import { openLakefsRepo } from '../lakefs/versioned-repo.ts'
import {
  changeFence,
  isFenceEvaluated,
  readFenceState,
  refuseForeignActions,
  type FenceState,
} from '../publication/fence-installation.ts'
import type { PeragoConfiguration } from './configuration/configuration.ts'
import { openLakefs } from './connections/lakefs-connection.ts'

export interface FencesRequest {
  readonly repository: string
  /** The default branch unless given. */
  readonly branches?: readonly string[] | undefined
}

export interface BranchFence extends FenceState {
  /** A rule of the branch protection names the branch. */
  readonly isProtected: boolean
}

export interface FencesOptions {
  readonly logger: Logger
  readonly retry?: Partial<RetryPolicy>
  readonly signal: AbortSignal
}

/** What a command over the fences works with, until it is closed. */
export interface OpenFences {
  read(): Promise<readonly BranchFence[]>
  /** Whether lakeFS evaluates the fence; `undefined` where none of the branches has one. */
  isEvaluated(states: readonly FenceState[]): Promise<boolean | undefined>
  install(states: readonly BranchFence[], protect: boolean): Promise<void>
  remove(states: readonly BranchFence[]): Promise<void>
}

export async function withFences<T>(
  configuration: PeragoConfiguration,
  request: FencesRequest,
  options: FencesOptions,
  work: (fences: OpenFences) => Promise<T>,
): Promise<T> {
  const client = openLakefs(configuration, options)
  try {
    return await work(openFences(client, request, options.signal))
  } finally {
    await client.close()
  }
}

function openFences(client: LakefsClient, request: FencesRequest, signal: AbortSignal): OpenFences {
  const repository = repositoryName(request.repository)
  const repo = openLakefsRepo(client, repository)
  const call = { signal }
  const change = async (act: 'install' | 'remove', states: readonly BranchFence[]): Promise<void> => {
    // Before the first is changed.
    for (const state of states) refuseForeignActions(state)
    const unwanted = act === 'install' ? 'installed' : 'absent'
    for (const state of states.filter(({ file }) => file !== unwanted))
      await changeFence(repo, state, { act, clock: systemClock, signal })
  }
  return {
    async read() {
      const branches = request.branches ?? [await readDefaultBranch(client, repository, signal)]
      const protectedNames = await readBranchProtection(client, repository, call)
      const states: BranchFence[] = []
      for (const name of branches) {
        const state = await readFenceState(repo, branchName(name), call)
        states.push({ ...state, isProtected: protectedNames.includes(name) })
      }
      return states
    },
    async isEvaluated(states) {
      const installed = states.find(({ file }) => file === 'installed')
      return installed && isFenceEvaluated(repo, installed, systemClock)
    },
    async install(states, protect) {
      await change('install', states)
      const open = states.filter(({ isProtected }) => !isProtected).map(({ branch }) => branch)
      if (!protect || open.length === 0) return
      const patterns = [...(await readBranchProtection(client, repository, call)), ...open]
      await setBranchProtection(client, { repository, patterns }, call)
    },
    remove: (states) => change('remove', states),
  }
}

async function readDefaultBranch(
  client: LakefsClient,
  repository: RepositoryName,
  signal: AbortSignal,
): Promise<string> {
  const found = await readRepository(client, repository, { signal })
  if (found !== undefined) return found.defaultBranch
  throw new MissingError('runtime/no-such-repository', `read repository "${repository}": it does not exist`, {
    next: 'Correct the name of the repository.',
  })
}
