/** Why somebody does something, kept with what it is done to. */
const REASON_MAX = 500

export function ReasonField({
  reason,
  setReason,
}: {
  readonly reason: string
  readonly setReason: (reason: string) => void
}) {
  return (
    <p>
      <label>
        Reason, kept with it{' '}
        <input
          value={reason}
          maxLength={REASON_MAX}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
      </label>
    </p>
  )
}
