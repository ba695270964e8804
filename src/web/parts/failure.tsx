import { readReason } from './reason.ts'
import { Told } from './told.tsx'

/** Why something failed, and what to do next. */
export function Failure({
  reason,
  code: given,
}: {
  readonly reason: string | undefined
  readonly code?: string | undefined
}) {
  if (reason === undefined || reason === '') return null
  const { what, code = given, next } = readReason(reason)
  return (
    <div class="problem">
      <p>
        <Told text={what} /> {code !== undefined && <code>{code}</code>}
      </p>
      {next !== undefined && (
        <p>
          <Told text={next} />
        </p>
      )}
    </div>
  )
}
