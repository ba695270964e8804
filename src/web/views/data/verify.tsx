/** Whether the history of a branch holds what perago promises: as `perago verify` says it. */

import { useState } from 'preact/hooks'
import { get } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Commit } from '../../parts/data-links.tsx'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Empty, Problem } from '../../parts/problem.tsx'
import { RecoverLink, toVerification } from '../../parts/recovery.tsx'
import { State } from '../../parts/state.tsx'
import { Ago } from '../../parts/time.tsx'
import { goTo, type Route } from '../../route.ts'
import { toBranch, toRepository } from './addresses.ts'
import {
  CHECKED_COMMITS_MAX,
  groupFindings,
  isLeftOpen,
  judge,
  readLimit,
  say,
  sayExtent,
  type FoundOfCheck,
  type Verification,
} from './verification.ts'
import { Noticed } from './verify-notes.tsx'

interface Place {
  readonly repository: string
  readonly branch: string
}

export interface VerifyViewProps extends Place {
  readonly query: Route['query']
}

export function VerifyView({ repository, branch, query }: VerifyViewProps) {
  const { since } = query
  const limit = readLimit(query.limit)
  const { data, error, at, reload } = useLoaded(
    (signal) =>
      get('/repositories/{repository}/branches/{branch}/verification', {
        path: { repository, branch },
        query: { limit, ...(since !== undefined && { since }) },
        signal,
      }),
    [repository, branch, since, limit],
  )
  return (
    <>
      <Crumbs
        way={[
          { text: 'Data', to: '#/data' },
          { text: repository, to: toRepository(repository) },
          { text: branch, to: toBranch(repository, branch) },
          { text: 'Verify' },
        ]}
      />
      <h1>Verify {branch}</h1>
      <Since key={since} {...{ repository, branch, since }} />
      <Problem error={error} retry={reload} />
      {data !== undefined ? (
        <>
          <Verdict {...{ repository, branch, since, found: data }} />
          {at !== undefined && (
            <p class="bar">
              <button type="button" onClick={reload}>
                Verify again
              </button>
              <span class="faint">
                Looked <Ago at={at} />
              </span>
            </p>
          )}
          <Checks {...{ repository, branch, found: data }} />
          <Noticed {...{ repository, found: data }} />
        </>
      ) : (
        error === undefined && (
          <p class="faint" role="status">
            Reads the history. This takes up to 10 seconds.
          </p>
        )
      )}
    </>
  )
}

/** Only what is above it is asked for. */
function Since({ repository, branch, since }: Place & { readonly since: string | undefined }) {
  const [text, setText] = useState(since ?? '')
  const wanted = text.trim() === '' ? undefined : text.trim()
  const ask = (event: Event): void => {
    event.preventDefault()
    goTo(toVerification(repository, branch, { since: wanted }))
  }
  return (
    <form class="bar" onSubmit={ask}>
      <label class="choice">
        Only commits above
        <input
          value={text}
          placeholder="branch, tag or commit"
          spellcheck={false}
          autocomplete="off"
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={wanted === since}>
        Verify
      </button>
      {since !== undefined && <a href={toVerification(repository, branch)}>Verify all of it</a>}
    </form>
  )
}

interface VerdictProps extends Place {
  readonly since: string | undefined
  readonly found: Verification
}

function Verdict({ repository, branch, since, found }: VerdictProps) {
  const verdict = judge(found)
  const { commits, stopped, findings_count: count } = found
  return (
    <>
      <p role="status">
        {verdict !== undefined && <State state={verdict} />}{' '}
        <strong>
          {verdict === 'refuted' ? `${say(count, 'finding')}.` : verdict && 'Nothing is refuted.'}
        </strong>{' '}
        {sayExtent(found, since)}
      </p>
      {stopped === 'limit' && commits < CHECKED_COMMITS_MAX && (
        <p>
          <a href={toVerification(repository, branch, { since, limit: String(CHECKED_COMMITS_MAX) })}>
            Verify up to 10,000 commits
          </a>
        </p>
      )}
      {(stopped === 'time' || commits >= CHECKED_COMMITS_MAX) && (
        <Empty run="npx perago verify REPOSITORY BRANCH">Without a limit:</Empty>
      )}
    </>
  )
}

function Checks({ repository, branch, found }: Place & { readonly found: Verification }) {
  if (found.commits === 0) return null
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">What was checked</h2>
      <ul class="promises">
        {groupFindings(found).map((each) => (
          <Promised
            key={each.check.check}
            {...{ repository, branch, found: each, isOpen: isLeftOpen(each.check, found) }}
          />
        ))}
      </ul>
    </section>
  )
}

interface PromisedProps extends Place {
  readonly found: FoundOfCheck
  /** Some of it could not be judged. */
  readonly isOpen: boolean
}

function Promised({ repository, branch, found, isOpen }: PromisedProps) {
  const { check, findings, left } = found
  const isRefuted = check.refuted > 0
  return (
    <li class={isRefuted ? 'promise refuted' : 'promise'}>
      <p>
        <State state={isRefuted ? 'refuted' : 'holds'} /> {check.says}{' '}
        <code class="faint">{check.check}</code>
        {isOpen && <span class="faint">, as far as it could be judged: see below</span>}
      </p>
      {isRefuted && (
        <>
          <ul class="findings">
            {findings.map(({ commit, why }) => (
              <li key={`${commit} ${why}`}>
                <Commit repository={repository} id={commit} />: <WithCommits {...{ repository, text: why }} />
              </li>
            ))}
            {left > 0 && <li class="faint">and {left} more</li>}
          </ul>
          <p class="next">
            → {check.next} <RecoverLink place={{ repository, branch }} text={`Recover ${branch}`} />
          </p>
        </>
      )}
    </li>
  )
}

const COMMIT_ID = /([0-9a-f]{64})/

/** Ids of commits in it lead to them. */
function WithCommits({ repository, text }: { readonly repository: string; readonly text: string }) {
  return (
    <>
      {text
        .split(COMMIT_ID)
        .map((part) =>
          COMMIT_ID.test(part) ? <Commit key={part} repository={repository} id={part} /> : part,
        )}
    </>
  )
}
