import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from '../../parts/problem.tsx'
import { showSize } from '../../parts/time.tsx'
import { readRange, type ObjectPlace } from './reading.ts'

/** It is held in the memory of the page until it is saved. */
const DOWNLOAD_MAX_BYTES = 256 * 1_048_576
/** Browsers begin to read it at some later time, and do not say when. */
const KEPT_MS = 60_000

/** The server sends parts without a type, so the page puts them together. */
export function Download({ place, sizeBytes }: { readonly place: ObjectPlace; readonly sizeBytes: number }) {
  const [state, setState] = useState<{ doneBytes?: number; error?: unknown }>({})
  const over = useRef(new AbortController())
  useEffect(() => () => over.current.abort(), [])
  const { repository, at, path } = place
  if (sizeBytes > DOWNLOAD_MAX_BYTES)
    return (
      <p class="note">
        Larger than {showSize(DOWNLOAD_MAX_BYTES)}:{' '}
        <code>
          lakectl fs download lakefs://{repository}/{at}/{path}
        </code>
      </p>
    )
  const load = async (): Promise<void> => {
    const { signal } = over.current
    setState({ doneBytes: 0 })
    try {
      const all = { start: 0, length: sizeBytes }
      const { bytes } = await readRange(place, all, signal, (doneBytes) => setState({ doneBytes }))
      save(bytes, path.slice(path.lastIndexOf('/') + 1))
      setState({})
    } catch (error) {
      if (!signal.aborted) setState({ error })
    }
  }
  const { doneBytes } = state
  return (
    <>
      <Problem error={state.error} />
      <p class="bar">
        <button type="button" disabled={doneBytes !== undefined} onClick={() => void load()}>
          Download
        </button>
        {doneBytes !== undefined && (
          <span role="status">
            {showSize(doneBytes)} of {showSize(sizeBytes)}
          </span>
        )}
      </p>
    </>
  )
}

function save(bytes: Uint8Array<ArrayBuffer>, name: string): void {
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), KEPT_MS)
}
