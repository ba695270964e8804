import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get, noteBroken, openStream } from '../../api.ts'
import { follow, type FollowState } from '../../parts/follow.ts'
import { addNewer, addOlder, NO_EVENTS, type Event, type EventLog } from './event-log.ts'

const PAGE = 500

export interface Followed {
  readonly log: EventLog
  readonly state: FollowState
  readonly error: unknown
  readonly isLoading: boolean
  /** Asks for older ones. */
  readonly older: () => void
}

/** The newest events of an execution, then those that arrive. */
export function useEvents(id: string, patterns: readonly string[], turn: unknown): Followed {
  const key = JSON.stringify([id, patterns, turn])
  const [state, setState] = useState({ key, log: NO_EVENTS, isLoading: true })
  const [how, setHow] = useState<{ state: FollowState; error?: unknown }>({ state: 'connecting' })
  const over = useRef(new AbortController())
  const path = { execution_id: id }
  const readOlder = async (before: number | undefined): Promise<void> => {
    const { signal } = over.current
    const query = { type: patterns, order: 'descending' as const, limit: PAGE }
    setState((last) => ({ ...last, isLoading: true }))
    const page = await get('/executions/{execution_id}/events', {
      ...{ path, signal },
      query: { ...query, ...(before !== undefined && { after: before }) },
    })
    if (signal.aborted) return
    const hasOlder = page.next_after !== undefined
    setState((last) => {
      const log = last.key === key ? last.log : NO_EVENTS
      return { key, log: addOlder(log, page.events, hasOlder), isLoading: false }
    })
  }
  const begin = async (): Promise<void> => {
    const { signal } = over.current
    const [newest] = (
      await get('/executions/{execution_id}/events', {
        ...{ path, signal },
        query: { order: 'descending', limit: 1 },
      })
    ).events
    await readOlder(undefined)
    await follow({
      signal,
      // What was recorded between these two requests is given twice, and counted once.
      lastId: String(newest?.sequence ?? 0),
      open: (lastId, of) =>
        openStream(
          '/executions/{execution_id}/follow',
          { path, query: { type: patterns }, signal: of },
          lastId,
        ),
      take: (events) => {
        const arrived = events.map(({ data }) => JSON.parse(data) as Event)
        setState((last) => ({ ...last, log: addNewer(last.log, arrived) }))
      },
      say: (said, error) => {
        if (said === 'waiting' && error !== undefined) noteBroken()
        setHow({ state: said, error: said === 'failed' ? error : undefined })
      },
      isPassing: (error) => !(error instanceof ApiError) || error.status === 0 || error.status >= 429,
    })
  }
  const fail = (signal: AbortSignal) => (error: unknown) => {
    if (signal.aborted) return
    setState((last) => ({ ...last, isLoading: false }))
    setHow({ state: 'failed', error })
  }
  useEffect(() => {
    over.current = new AbortController()
    const { signal } = over.current
    setState({ key, log: NO_EVENTS, isLoading: true })
    begin().catch(fail(signal))
    return () => over.current.abort()
  }, [key])
  const isOld = state.key !== key
  const { log, isLoading } = isOld ? { log: NO_EVENTS, isLoading: true } : state
  const older = (): void => {
    const first = log.events[0]?.sequence
    if (isLoading || !log.hasOlder) return
    readOlder(first).catch(fail(over.current.signal))
  }
  return { log, isLoading, older, ...{ state: how.state, error: how.error } }
}
