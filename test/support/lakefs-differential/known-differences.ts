// Where the embedded server answers otherwise than the real one, on purpose. The reference page says so too.
import type { Difference } from './two-servers.ts'

export interface KnownDifference {
  readonly name: string
  readonly why: string
  readonly matches: (difference: Difference) => boolean
}

export const KNOWN_DIFFERENCES: readonly KnownDifference[] = [
  {
    name: 'last bytes of nothing',
    why: 'The real server answers 500, to a HEAD 206, when the last bytes of an empty object are asked for; 416 is what it means.',
    matches: ({ call, real, ours }) =>
      call.headers?.['range']?.startsWith('bytes=-') === true &&
      [500, 206].includes(real.status) &&
      ours.status === 416,
  },
  {
    name: 'no path to create at',
    why: 'The real server fails in its own code (500) when a path that is too long is to be created only; without the condition it answers 400.',
    matches: ({ call, real, ours }) =>
      call.headers?.['if-none-match'] === '*' && real.status === 500 && ours.status === 400,
  },
]
