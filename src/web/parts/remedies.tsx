/** From what failed to what may be done about it: as `perago recover`, `perago verify` and `perago doctor` say it. */

import { addressOf } from '../route.ts'
import { session } from '../session.ts'
import type { FailedPublication } from './failed-publications.ts'
import { RecoverLink, showsRecoveries, toVerification } from './recovery.tsx'

export function Remedies({ publications }: { readonly publications: readonly FailedPublication[] }) {
  const hasChecks = session.value?.shows.includes('examination') === true
  const known = showsRecoveries() ? publications : []
  if (known.length === 0 && !hasChecks) return null
  const workflows = onceEach(known, ({ repository, workflow }) => `${repository} ${workflow}`)
  const branches = onceEach(known, ({ repository, branch }) => `${repository} ${branch ?? ''}`)
  return (
    <nav class="bar remedies" aria-label="What may be done">
      <span class="faint">What may be done:</span>
      {workflows.map(({ repository, workflow }) => (
        <RecoverLink
          key={`${repository} ${workflow}`}
          place={{ repository, workflow }}
          text={`Recover what it did to ${repository}`}
        />
      ))}
      {branches.map(
        ({ repository, branch }) =>
          branch !== undefined && (
            <a key={`${repository} ${branch}`} href={toVerification(repository, branch)}>
              Verify {repository}/{branch}
            </a>
          ),
      )}
      {hasChecks && <a href={addressOf(['operations'], { at: 'examined' })}>Checks of this server</a>}
    </nav>
  )
}

function onceEach<T>(all: readonly T[], keyOf: (one: T) => string): readonly T[] {
  return all.filter((one, index) => all.findIndex((other) => keyOf(other) === keyOf(one)) === index)
}
