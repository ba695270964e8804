// Goal: whatever the look refuses, the publication would have been refused for, and by one request that changes nothing.
import { describe, expect, test } from 'vitest'
import { publicationOf, TARGET, uploadOf } from '../../test/support/publication-world.ts'
import type { CommitRef } from '../base/ids.ts'
import { PublishFenceError } from '../fences/publish-fence.ts'
import { ScriptedRepo } from '../testing/scripted-repo.ts'
import { lookAhead } from './look-ahead.ts'
import { publish } from './publish.ts'

interface State {
  readonly repo: ScriptedRepo
  readonly inputRef: CommitRef
}

/** The branch as it may be when an attempt that was given `inputRef` begins. */
const STATES: Readonly<Record<string, (state: State) => unknown>> = {
  'at the input': () => undefined,
  'one commit above it': ({ repo }) => repo.commitDirectly(TARGET, { x: '1' }),
  'two commits above it': ({ repo }) => [
    repo.commitDirectly(TARGET, { x: '1' }),
    repo.commitDirectly(TARGET, { x: '2' }),
  ],
  'at an own publication above it': ({ repo, inputRef }) =>
    publish(publicationOf(repo.connect('earlier'), inputRef).request),
  deleted: ({ repo }) => repo.model.branches.delete(TARGET),
}
const POLICIES = ['any', 'own'] as const
const CASES = Object.keys(STATES).flatMap((name) => POLICIES.map((replace) => [name, replace] as const))

async function open(name: string): Promise<State> {
  const repo = new ScriptedRepo()
  const inputRef = repo.commitDirectly(TARGET, { 'features/a': 'a' }, 'Input')
  await STATES[name]?.({ repo, inputRef })
  return { repo, inputRef }
}

const refusalOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof PublishFenceError) return error.reason
      throw error
    },
  )

describe('one look at the branch', () => {
  test.each(CASES)(
    'WK-276 a branch %s, replace %s: the look says what the publication says',
    async (name, replace) => {
      const { repo, inputRef } = await open(name)
      const { request } = publicationOf(repo.connect('worker'), inputRef, {
        authority: { replace },
        changes: { uploads: [uploadOf('features/b', 'b')], deletes: [] },
      })
      const before = repo.calls.length
      const looked = await refusalOf(lookAhead(request))
      const calls = repo.calls.slice(before)
      expect(calls.filter(({ writes }) => writes)).toEqual([])
      expect(calls).toHaveLength(name === 'deleted' ? 2 : 1)
      expect(looked).toBe(await refusalOf(publish(request)))
    },
  )

  test('WK-277 a claim at the head, and an own commit elsewhere, are left to the fences after the body', async () => {
    const { repo, inputRef } = await open('two commits above it')
    const { request } = publicationOf(repo.connect('worker'), inputRef)
    const commitWith = (metadata: Readonly<Record<string, string>>): void => {
      const head = repo.head(TARGET)!
      const { ref } = repo.model.addCommit({
        ...{ parents: [head], message: 'Claim', metadata, tree: repo.model.treeAt(head)! },
      })
      repo.move({ client: 'direct', branch: TARGET, how: 'commit', to: ref })
    }
    commitWith({ 'publish.claim': inputRef })
    await expect(lookAhead(request)).resolves.toBe(repo.head(TARGET))
    commitWith({ 'publish.workflow': 'workflow-2' })
    await expect(lookAhead(request)).rejects.toMatchObject({ reason: 'branch-moved' })
    const { attempt, referenceTaskName, iteration } = request.authority
    const own = { 'publish.workflow': attempt.workflowId, 'publish.task': referenceTaskName }
    commitWith({ ...own, 'publish.iteration': String(iteration) })
    await expect(lookAhead(request)).resolves.toBe(repo.head(TARGET))
    expect(repo.calls.filter(({ writes }) => writes)).toEqual([])
  })
})
