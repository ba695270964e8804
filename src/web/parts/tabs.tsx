import { addressOf } from '../route.ts'

export interface Tab {
  /** Its part of the address; empty for the first one. */
  readonly name: string
  readonly title: string
}

/** The sides of one thing; each has an address. */
export function Tabs({
  at,
  tabs,
  chosen,
}: {
  readonly at: readonly string[]
  readonly tabs: readonly Tab[]
  readonly chosen: string
}) {
  return (
    <nav class="bar" aria-label="Sides">
      {tabs.map(({ name, title }) => (
        <a
          key={name}
          href={addressOf(name === '' ? at : [...at, name])}
          aria-current={name === chosen ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  )
}
