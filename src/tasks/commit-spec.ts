/** What an author says of the commits that a task publishes: their message, and metadata beside what perago says itself. */

import type { Json } from '../base/json.ts'
import {
  COMMIT_MESSAGE_MAX_CHARS,
  COMMIT_METADATA_KEYS_MAX,
  COMMIT_METADATA_VALUE_MAX_CHARS,
} from './limits.ts'
import { unknownKeys } from './known-keys.ts'

/** What a function of it is given. */
export interface CommitFacts<Params = unknown, Result = unknown> {
  readonly params: Params
  readonly result: Result
  readonly attempt: { readonly workflowId: string; readonly taskName: string; readonly retryCount: number }
}

type CommitMetadata = Readonly<Record<string, string | number | boolean>>

export interface CommitSpec<Params = unknown, Result = unknown> {
  /** In place of `Publish clean, attempt 0`; what is longer than 1,000 characters is cut. */
  readonly message?: string | ((facts: CommitFacts<Params, Result>) => string)
  /** At most 20 keys, none of which begins with `publish.`, where perago's own are. */
  readonly metadata?: CommitMetadata | ((facts: CommitFacts<Params, Result>) => CommitMetadata)
}

/** What is written. */
export interface AuthoredCommit {
  readonly message: string | undefined
  readonly metadata: Readonly<Record<string, string>>
}

const KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/

/** The problems of a declaration; what its functions give is judged when they are called. */
export function judgeCommitSpec(spec: unknown): readonly string[] {
  if (spec === undefined) return []
  if (typeof spec !== 'object' || spec === null) return ['commit must be an object']
  const { message, metadata } = spec as Readonly<Record<string, unknown>>
  return [
    ...unknownKeys(spec, ['message', 'metadata'], 'commit'),
    ...(message === undefined || typeof message === 'function' ? [] : judgeMessage(message)),
    ...(metadata === undefined || typeof metadata === 'function' ? [] : judgeMetadata(metadata)),
  ]
}

/** Calls what are functions. What is wrong with what they give is in `problems`. */
export function authorCommit(
  { message: say, metadata: tell = {} }: CommitSpec,
  facts: CommitFacts<unknown, Json>,
): AuthoredCommit & { readonly problems: readonly string[] } {
  const message: unknown = typeof say === 'function' ? say(facts) : say
  const metadata: unknown = typeof tell === 'function' ? tell(facts) : tell
  const problems = [...(message === undefined ? [] : judgeMessage(message)), ...judgeMetadata(metadata)]
  if (problems.length > 0) return { message: undefined, metadata: {}, problems }
  return {
    message: typeof message === 'string' ? message.trim().slice(0, COMMIT_MESSAGE_MAX_CHARS) : undefined,
    metadata: Object.fromEntries(
      Object.entries(metadata as CommitMetadata).map(([key, value]) => [key, String(value)]),
    ),
    problems,
  }
}

function judgeMessage(message: unknown): readonly string[] {
  return typeof message === 'string' && message.trim() !== ''
    ? []
    : ['commit.message must be a text that is not empty']
}

function judgeMetadata(metadata: unknown): readonly string[] {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
    return ['commit.metadata must be an object of texts']
  const entries = Object.entries(metadata)
  if (entries.length > COMMIT_METADATA_KEYS_MAX)
    return [`commit.metadata has ${entries.length} keys, and ${COMMIT_METADATA_KEYS_MAX} is the most`]
  return entries.flatMap(([key, value]) =>
    judgeEntry(key, value).map((problem) => `commit.metadata.${key} ${problem}`),
  )
}

function judgeEntry(key: string, value: unknown): readonly string[] {
  if (key.startsWith('publish.')) return ['is a name that perago keeps for itself']
  if (!KEY.test(key)) return ['must be named by letters, digits, "_", "-" and ".", at most 100']
  if (!['string', 'number', 'boolean'].includes(typeof value))
    return ['must be a text, a number or a boolean']
  if (String(value).length > COMMIT_METADATA_VALUE_MAX_CHARS)
    return [`is longer than ${COMMIT_METADATA_VALUE_MAX_CHARS} characters`]
  return []
}
