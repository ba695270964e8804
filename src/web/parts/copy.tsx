import { useState } from 'preact/hooks'

/** The first digits of an id, and a button that copies it whole. */
export function Id({ id, digits = 8 }: { readonly id: string; readonly digits?: number }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(id)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_200)
  }
  return (
    <span class="id">
      <code title={id}>{id.slice(0, digits)}</code>
      <button type="button" class="quiet" aria-label={`Copy ${id}`} onClick={() => void copy()}>
        {isCopied ? '✓' : '⧉'}
      </button>
    </span>
  )
}
