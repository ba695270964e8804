import { RecoverLink, showsRecoveries } from '../../parts/recovery.tsx'
import type { FailedPublication } from './recoveries.ts'

/** The way from what failed to what may be done about its publication. */
export function Recoveries({ publications }: { readonly publications: readonly FailedPublication[] }) {
  if (publications.length === 0 || !showsRecoveries()) return null
  return (
    <p class="bar">
      {publications.map((place) => (
        <RecoverLink
          key={`${place.repository} ${place.workflow}`}
          place={place}
          text={`Recover what it did to ${place.repository}`}
        />
      ))}
    </p>
  )
}
