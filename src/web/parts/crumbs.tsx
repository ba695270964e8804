import type { ComponentChildren } from 'preact'

export interface Crumb {
  readonly text: ComponentChildren
  /** Absent: this is where one is. */
  readonly to?: string
}

/** Where one is, and the way back. */
export function Crumbs({ way }: { readonly way: readonly Crumb[] }) {
  return (
    <nav class="crumbs" aria-label="Way">
      {way.map(({ text, to }, index) => (
        <>
          {index > 0 && <span aria-hidden="true">›</span>}
          {to === undefined ? <span aria-current="location">{text}</span> : <a href={to}>{text}</a>}
        </>
      ))}
    </nav>
  )
}
