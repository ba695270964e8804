import type { ComponentChildren } from 'preact'
import './facts.css'

/** What is known of a thing, in as many columns as there is room for. */
export function Facts({ children }: { readonly children: ComponentChildren }) {
  return <dl class="fact-columns">{children}</dl>
}

export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
