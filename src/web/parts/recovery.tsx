/** The way to what may be done about a publication, and to whether a history holds: where this server tells. */

import { addressOf } from '../route.ts'
import { session } from '../session.ts'

export function showsRecoveries(): boolean {
  return session.value?.shows.includes('recoveries') === true
}

/** A branch, or what a workflow has done to those of a repository. */
export type RecoveryPlace = { readonly repository: string } & (
  | { readonly branch: string; readonly workflow?: undefined }
  | { readonly workflow: string; readonly branch?: undefined }
)

export const toRecovery = ({ repository, branch, workflow }: RecoveryPlace): string =>
  addressOf(['operations', 'recover'], { repository, branch, workflow })

export function RecoverLink({ place, text }: { readonly place: RecoveryPlace; readonly text: string }) {
  if (!showsRecoveries()) return null
  return <a href={toRecovery(place)}>{text}</a>
}

export const toVerification = (
  repository: string,
  branch: string,
  query: { readonly since?: string | undefined; readonly limit?: string | undefined } = {},
): string => addressOf(['data', repository, 'branches', branch, 'verify'], { ...query })
