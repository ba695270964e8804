// Fences, checks and retry rules, each with the text that holds it and a text without it. A simulated world must fail
// without any of them. A text that is gone is an error: then somebody has to say where the rule is now.

export interface Mutation {
  readonly name: string
  readonly file: string
  readonly text: string
  readonly without: string
}

const P = 'src/publication'

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the guard judges the head',
    file: `${P}/write-guard.ts`,
    text: 'return this.#of.judge(head)',
    without: 'this.#of.judge(head)\n    return true',
  },
  {
    name: 'the guard checks the attempt',
    file: `${P}/write-guard.ts`,
    text: "await checkAuthority(this.#session, 'before-publishing')",
    without: '',
  },
  {
    name: 'no write begins on old answers',
    file: `${P}/write-guard.ts`,
    text: 'if (ageMs > PUBLICATION_CONFIRMATION_AGE_MAX_MS) return false',
    without: '',
  },
  {
    name: 'a stale attempt is stale',
    file: 'src/fences/attempt-fence.ts',
    text: 'if (!verdict.current) throw new StaleAttemptError(polled, verdict.differences)',
    without: '',
  },
  {
    name: 'a task that has ended is not current',
    file: 'src/fences/attempt-fence.ts',
    text: "if (fresh.status !== 'IN_PROGRESS')",
    without: 'if (false as boolean)',
  },
  {
    name: 'the publish fence refuses a head that it does not know',
    file: 'src/fences/publish-fence.ts',
    text: "return { action: 'refuse', reason: 'branch-moved' }",
    without: "return { action: 'merge' }",
  },
  {
    name: 'only a head directly above the input is replaced',
    file: 'src/fences/publish-fence.ts',
    text: 'if (headFirstParent === inputRef)',
    without: 'if (true as boolean)',
  },
  {
    name: 'only the input itself is merged onto',
    file: 'src/fences/publish-fence.ts',
    text: "if (head === inputRef) return { action: diffIsEmpty ? 'complete' : 'merge' }",
    without: "if (head === inputRef || !diffIsEmpty) return { action: diffIsEmpty ? 'complete' : 'merge' }",
  },
  {
    name: 'a superseded commit gets its tag',
    file: `${P}/relocate.ts`,
    text: 'evidenceTag: await keepSuperseded(session, supersededRef)',
    without: "evidenceTag: await Promise.resolve('none')",
  },
  {
    name: 'a branch moves only from the head that was tagged',
    file: `${P}/relocate.ts`,
    text: 'const judge = (head: CommitRecord | undefined): boolean => head?.ref === supersededRef',
    without: 'const judge = (): boolean => true',
  },
  {
    name: 'a rollback moves only from the head that it names',
    file: `${P}/relocate.ts`,
    text: 'if (!isKnown) throw headMoved(request, head?.ref)',
    without: '',
  },
  {
    name: 'a merge carries its expectation',
    file: `${P}/hard-strategy.ts`,
    text: 'const metadata = { ...write.metadata, [EXPECTED_HEAD]: expectedHead }',
    without: 'const metadata = { ...write.metadata }',
  },
  {
    name: 'a claim carries its expectation',
    file: `${P}/hard-strategy.ts`,
    text: 'const metadata = { ...of.metadata, [EXPECTED_HEAD]: expectedHead }',
    without: 'const metadata = { ...of.metadata }',
  },
  {
    name: 'what was merged stands on the expectation',
    file: `${P}/hard-strategy.ts`,
    text: 'if (made?.parents[0] === expectedHead) return',
    without: 'if (made !== undefined) return',
  },
  {
    name: 'a claim leads to the staged commit',
    file: `${P}/hard-strategy.ts`,
    text: 'parents: [expectedHead, expectedHead, to],',
    without: 'parents: [expectedHead, expectedHead, expectedHead],',
  },
  {
    name: 'after a claim the head is read',
    file: `${P}/claimed-move.ts`,
    text: "if (head?.ref !== claim) return { written: false, why: 'head-moved' }",
    without: 'if (head?.ref !== claim) return { written: true, ref: to }',
  },
  {
    name: 'a hard fence needs its file in the tree',
    file: `${P}/hard-strategy.ts`,
    text: 'const tree = (await this.#of.hasFence(to, plain(options))) ? to : expectedHead',
    without: 'const tree = to',
  },
  {
    name: 'on a protected branch the replacement names what it replaces',
    file: `${P}/hard-strategy.ts`,
    text: "const metadata = { ...write.metadata, 'publish.replaces': expectedHead } satisfies Partial<",
    without: 'const metadata = { ...write.metadata } satisfies Partial<',
  },
  {
    name: 'a claim that was left is collapsed by its reader',
    file: `${P}/claims.ts`,
    text: 'if (claim === undefined) return head',
    without: 'if (claim === undefined || claim.target !== head.ref) return head',
  },
  {
    name: 'a soft claim that landed elsewhere is not collapsed',
    file: `${P}/soft-strategy.ts`,
    text: 'if (made?.parents[0] !== expectedHead) throw landedElsewhere(write, claim.ref, made)',
    without: '',
  },
  {
    name: 'without the hard fence a claim leads to the staged commit too',
    file: `${P}/soft-strategy.ts`,
    text: 'await write([expectedHead, expectedHead, to], 0)',
    without: 'await write([expectedHead, expectedHead, expectedHead], 0)',
  },
  {
    name: 'a merge is confirmed by the branch',
    file: `${P}/own-publication.ts`,
    text: 'if (head?.ref === merged.ref && head.parents[0] === inputRef) return merged.ref',
    without: 'if (head !== undefined) return merged.ref',
  },
  {
    name: 'one looks for the own publication only above the input',
    file: `${P}/own-publication.ts`,
    text: 'const index = seen.findIndex((commit) => isOwn(commit) && standsOn(inputRef, commit))',
    without: 'const index = seen.findIndex((commit) => isOwn(commit))',
  },
  {
    name: 'after a lost answer one looks before the next write',
    file: `${P}/publish.ts`,
    text: 'const outputRef = lost && (await findOwnPublication(run, stagedRef))',
    without: 'const outputRef = undefined as CommitRef | undefined',
  },
  {
    name: 'a merge that was lost and came late is not replaced by itself',
    file: `${P}/publish.ts`,
    text: 'if (isLost && isOurs(run, otherwise.head)) return undefined',
    without: '',
  },
  {
    name: 'with "own" nothing else is replaced',
    file: `${P}/publish.ts`,
    text: "if (!mayReplace(head, run.authority)) throw refuse(run, 'not-own', head, stagedRef)",
    without: '',
  },
  {
    name: 'a lost write is judged again after a check of the attempt',
    file: `${P}/branch-write.ts`,
    text: "if (kind === 'uncertain') throw new LostWrite(move, { cause: error })",
    without: "if (kind === 'uncertain') throw new WriteNotDone(error)",
  },
  {
    name: 'a conflict is no success',
    file: `${P}/merge-once.ts`,
    text: "return { written: false, why: 'head-moved' }\n    case 'nothing",
    without: "return { written: true, ref: source }\n    case 'nothing",
  },
  {
    name: 'a staging commit whose answer was lost is looked for',
    file: `${P}/stage.ts`,
    text: "if (outcome.reason === 'nothing-to-commit') return isLost ? await findCommit(run) : undefined",
    without: "if (outcome.reason === 'nothing-to-commit') return undefined",
  },
  {
    name: 'a retry that adopts looks before it runs',
    file: `${P}/adopt.ts`,
    text: '  return adoption\n}',
    without: '  return adoption === null ? adoption : undefined\n}',
  },
  {
    name: 'only a publication of the same task is adopted',
    file: `${P}/adopt.ts`,
    text: 'head === undefined || !isOwn(head.metadata, request.authority))',
    without: 'head === undefined)',
  },
  {
    name: 'an adoption is checked once more',
    file: `${P}/adopt.ts`,
    text: 'return (await isStillTrue(session, branch, head.ref)) ? { adoption } : undefined',
    without: 'return { adoption }',
  },
  {
    name: 'a result is read back after it was posted',
    file: 'src/worker/results/deliver-result.ts',
    text: 'const decided = await findDecided(options, posts, round === 0)',
    without:
      'const decided: Delivery | undefined = posts > 0 ? { delivered: true, posts } : await findDecided(options, posts, round === 0)',
  },
  {
    name: 'a result that is not delivered stays in the outbox',
    file: 'src/worker/results/finish-attempt.ts',
    text: 'item = await outbox.put(attempt, result)',
    without: 'await Promise.resolve()',
  },
  {
    name: 'a lease is released before its result is sent',
    file: 'src/worker/results/finish-attempt.ts',
    text: "if (lease !== undefined) await step('release-lease', () => lease.release())",
    without: '',
  },
  {
    name: 'a release waits for the renewal in flight',
    file: 'src/worker/leases/lease.ts',
    text: '      await ended\n',
    without: '',
  },
  {
    name: 'a release waits for a renewal whose answer was lost',
    file: 'src/worker/leases/lease.ts',
    text: 'if (leftMs > 0) await clock.sleep(leftMs)',
    without: '',
  },
  {
    name: 'nothing is written after its lease was lost',
    file: `${P}/session.ts`,
    text: 'random = systemRandom, signal } = options',
    without: 'random = systemRandom } = options\n  const signal = undefined as AbortSignal | undefined',
  },
  {
    name: 'a refused publication ends its workflow',
    file: 'src/worker/results/failure-map.ts',
    text: "'fences/publish-refused': 'FAILED_WITH_TERMINAL_ERROR',",
    without: '',
  },
]
