import { useState } from 'preact/hooks'

/** A text that is looked for when it is complete: Enter, or leaving the field. */
export function SearchField({
  label,
  value,
  find,
  placeholder,
  options = [],
  isSearch = true,
}: {
  readonly label: string
  readonly value: string
  readonly find: (text: string) => void
  readonly placeholder?: string
  /** Offered while typing. */
  readonly options?: readonly string[]
  /** One of these is enough for a view: it is a landmark. */
  readonly isSearch?: boolean
}) {
  const [list] = useState(() => `options-${Math.random().toString(36).slice(2)}`)
  return (
    <form
      class="search"
      {...(isSearch && { role: 'search' })}
      onSubmit={(event) => {
        event.preventDefault()
        const text = new FormData(event.currentTarget).get('text')
        find(typeof text === 'string' ? text.trim() : '')
      }}
    >
      <label>
        {label}{' '}
        <input
          key={value}
          name="text"
          type="search"
          defaultValue={value}
          {...{ placeholder, list }}
          spellcheck={false}
          autocomplete="off"
          onChange={(event) => find(event.currentTarget.value.trim())}
        />
      </label>
      <datalist id={list}>
        {options.map((option) => (
          <option key={option} value={option} />
        ))}
      </datalist>
    </form>
  )
}
