import type { Schemas } from '../../api.ts'

export type Execution = Schemas['Execution']

/** Until somebody tries it again. */
export function isEnded({ status }: Pick<Execution, 'status'>): boolean {
  return status === 'COMMIT' || status === 'FAILED' || status === 'CANCELLED'
}
