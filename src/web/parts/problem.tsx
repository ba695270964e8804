import type { ComponentChildren } from 'preact'
import { ApiError } from '../api.ts'
import { Told } from './told.tsx'

/** What went wrong, and what to do next. */
export function Problem({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  if (error === undefined) return null
  const { code, next } = error instanceof ApiError ? error : { code: undefined, next: undefined }
  return (
    <div class="problem" role="alert">
      <p>
        <Told text={error instanceof Error ? error.message : 'Something failed that says nothing.'} />{' '}
        {code !== undefined && <code>{code}</code>}
      </p>
      {next !== undefined && (
        <p>
          <Told text={next} />
        </p>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Ask again
        </button>
      )}
    </div>
  )
}

/** Nothing is there: says so, and what to run next. */
export function Empty({
  children,
  run,
}: {
  readonly children: ComponentChildren
  readonly run?: string | undefined
}) {
  return (
    <div class="empty">
      <p>{children}</p>
      {run !== undefined && (
        <pre tabIndex={0}>
          <code>{run}</code>
        </pre>
      )}
    </div>
  )
}

export function Loading() {
  return (
    <p class="faint" role="status">
      Loading…
    </p>
  )
}
