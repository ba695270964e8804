/** The state of a run, a task or an execution: a sign and a word, so that nobody depends on the colour. */

const KINDS = {
  good: {
    sign: '✓',
    states: [
      'completed',
      'succeeded',
      'ok',
      'done',
      'published',
      'active',
      'commit',
      'merged',
      'adopted',
      'holds',
    ],
  },
  running: {
    sign: '▶',
    states: [
      'running',
      'in_progress',
      'started',
      'rolling_back',
      'executing',
      'verifying',
      'rollback',
      'live',
    ],
  },
  waiting: {
    sign: '◷',
    states: ['scheduled', 'queued', 'waiting', 'pending', 'planned', 'created', 'scheduling'],
  },
  paused: { sign: '‖', states: ['paused', 'pausing'] },
  stopped: {
    sign: '■',
    states: ['terminated', 'cancelled', 'canceled', 'skipped', 'rolled_back', 'stopping', 'stopped'],
  },
  bad: {
    sign: '✕',
    states: [
      'failed',
      'failed_with_terminal_error',
      'timed_out',
      'refused',
      'refuted',
      'dead',
      'fail',
      'error',
      'gone',
      'silent',
      'stuck',
    ],
  },
  warn: {
    sign: '!',
    states: ['warn', 'completed_with_errors', 'replaced', 'relocated', 'superseded', 'handed_back'],
  },
} as const

export type StateKind = keyof typeof KINDS | 'other'

export function kindOf(state: string): StateKind {
  const name = state.toLowerCase().replaceAll('-', '_')
  const found = Object.entries(KINDS).find(([, { states }]) => (states as readonly string[]).includes(name))
  return (found?.[0] as StateKind | undefined) ?? 'other'
}

/** The sign of a state, for where there is no room for the word. */
export function signOf(state: string): string {
  const kind = kindOf(state)
  return kind === 'other' ? '•' : KINDS[kind].sign
}

/** Where the word of the API says less than another. */
const WORDS: Readonly<Record<string, string>> = {
  commit: 'completed',
  rollback: 'rolling back',
  failed_with_terminal_error: 'failed, no retry',
}

export function showState(state: string): string {
  return WORDS[state.toLowerCase()] ?? state.toLowerCase().replaceAll('_', ' ')
}

export function State({ state, title }: { readonly state: string; readonly title?: string | undefined }) {
  const kind = kindOf(state)
  return (
    <span class={`state state-${kind}`} title={title}>
      <span aria-hidden="true">{signOf(state)}</span> {showState(state)}
    </span>
  )
}
