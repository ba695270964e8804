/** A JSON value that can be opened member by member. All of it is text. */

import { useState } from 'preact/hooks'
import './json-tree.css'

const SHOWN_MAX = 100
const CHARS_MAX = 2_000
const OPEN_MEMBERS_MAX = 12

export function JsonTree({ value, label }: { readonly value: unknown; readonly label: string }) {
  return (
    <div class="json mono" role="group" aria-label={label}>
      <Value value={value} depth={0} />
    </div>
  )
}

function Value({
  value,
  name,
  depth,
}: {
  readonly value: unknown
  readonly name?: string
  readonly depth: number
}) {
  if (typeof value !== 'object' || value === null)
    return (
      <div class="json-line">
        <Name name={name} />
        <Scalar value={value} />
      </div>
    )
  return <Members members={membersOf(value)} isArray={Array.isArray(value)} {...{ name, depth }} />
}

interface MembersProps {
  readonly members: readonly (readonly [name: string, value: unknown])[]
  readonly isArray: boolean
  readonly name: string | undefined
  readonly depth: number
}

function Members({ members, isArray, name, depth }: MembersProps) {
  const [isOpen, setOpen] = useState(depth === 0 || (depth === 1 && members.length <= OPEN_MEMBERS_MAX))
  const [shown, setShown] = useState(SHOWN_MAX)
  const [begin, end] = isArray ? '[]' : '{}'
  if (members.length === 0)
    return (
      <div class="json-line">
        <Name name={name} />
        {begin}
        {end}
      </div>
    )
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="faint">
          {begin}
          {members.length} {isArray ? 'item' : 'member'}
          {members.length !== 1 && 's'}
          {end}
        </span>
      </summary>
      {isOpen && (
        <div class="json-members">
          {members.slice(0, shown).map(([key, member]) => (
            <Value key={key} name={key} value={member} depth={depth + 1} />
          ))}
          {members.length > shown && (
            <button type="button" class="quiet" onClick={() => setShown(shown + 10 * SHOWN_MAX)}>
              {members.length - shown} more
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function Name({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : <span class="json-name">{name}: </span>
}

function Scalar({ value }: { readonly value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  const isCut = !isWhole && text.length > CHARS_MAX
  return (
    <>
      <span class={`json-${value === null ? 'null' : typeof value}`}>
        {isCut ? `${text.slice(0, CHARS_MAX)}…` : text}
      </span>
      {isCut && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          all {text.length} characters
        </button>
      )}
    </>
  )
}

function membersOf(value: object): MembersProps['members'] {
  return Array.isArray(value)
    ? value.map((item: unknown, index) => [String(index), item] as const)
    : Object.entries(value)
}

/** A value in one line. */
export function showShort(value: unknown, charsMax = 200): string {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) return ''
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
}
