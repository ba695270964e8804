/** What a task published, and what each fence saw. */

import type { Schemas } from '../../api.ts'
import { Branch, Commit } from '../../parts/data-links.tsx'
import { State } from '../../parts/state.tsx'
import { Told } from '../../parts/told.tsx'
import type { Task } from '../../parts/run-state.ts'

type Publication = Schemas['TaskPublication']

const OUTCOMES: Readonly<Record<NonNullable<Publication['outcome']>, string>> = {
  merged: 'A commit was added to the branch.',
  completed: 'Nothing had changed, so no commit was added.',
  replaced: 'It took the place of an earlier publication of this task, which was on the branch.',
  relocated: 'The branch was moved from a commit that it replaces.',
  adopted: 'An earlier publication of this task was found on the branch and taken; the body did not run.',
  refused: 'It was refused, and the branch stays as it was.',
}

const FENCES: Readonly<Record<Publication['fences'][number]['fence'], string>> = {
  attempt: 'Attempt fence: is this still the attempt that the server waits for?',
  publish: 'Publish fence: does the branch still stand where the task began?',
  hard: 'Hard fence: did lakeFS take it under the condition?',
}

export function PublicationOf({
  task,
  publication,
}: {
  readonly task: Task
  readonly publication: Publication
}) {
  const { repository, branch, input_ref: input, commit, outcome, strength, replaced, evidence } = publication
  return (
    <section>
      <h2>Publication {outcome !== undefined && <State state={outcome} />}</h2>
      <p>{outcome === undefined ? tellMissing(task) : OUTCOMES[outcome]}</p>
      <dl class="facts">
        <dt>Branch</dt>
        <dd>
          <Branch {...{ repository, branch }} />
        </dd>
        <dt>Began with</dt>
        <dd>
          <Commit repository={repository} id={input} digits={12} />
        </dd>
        {commit !== undefined && (
          <>
            <dt>Commit</dt>
            <dd>
              <Commit repository={repository} id={commit} digits={12} />
            </dd>
          </>
        )}
        {strength !== undefined && (
          <>
            <dt>Strength</dt>
            <dd>
              {strength}:{' '}
              {strength === 'hard' ? 'lakeFS itself checks the head' : 'the head is checked just before'}
            </dd>
          </>
        )}
        {replaced !== undefined && (
          <>
            <dt>Replaced</dt>
            <dd>
              <Commit repository={repository} id={replaced} digits={12} />
            </dd>
          </>
        )}
        {evidence !== undefined && (
          <>
            <dt>{outcome === 'refused' ? 'Staged on' : 'Kept by the tag'}</dt>
            <dd>
              <code>{evidence}</code>
            </dd>
          </>
        )}
      </dl>
      <h3>Fences</h3>
      {publication.fences.length === 0 ? (
        <p class="faint">None was asked: it has not come to publishing.</p>
      ) : (
        <ol class="plain fences">
          {publication.fences.map(({ fence, passed, why }) => (
            <li key={fence}>
              <State state={passed ? 'ok' : 'refused'} /> {FENCES[fence]}
              {why !== undefined && (
                <p class="why">
                  <Told text={why} />
                </p>
              )}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

function tellMissing({ status }: Task): string {
  if (status === 'COMPLETED') return 'How it was published is not in the log (yet).'
  return status === 'SCHEDULED' || status === 'IN_PROGRESS'
    ? 'It has not published yet.'
    : 'It has not published, as far as its log tells.'
}
