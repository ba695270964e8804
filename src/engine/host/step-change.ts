import type { AttemptRow, Execution } from '../protocol/execution.ts'

/** What a stored step changed in one execution. */
export interface StepChange {
  readonly execution: Execution
  readonly changed: readonly { readonly before: AttemptRow | undefined; readonly after: AttemptRow }[]
  readonly dropped: readonly string[]
}
