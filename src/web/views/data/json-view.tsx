/** A JSON document as a tree; places that differ are marked, and those around them open. */

import { useState } from 'preact/hooks'
import type { JsonNode } from './json-diff.ts'

const SHOWN_AT_ONCE = 200
/** What is open from the start. */
const OPEN_CHILDREN_MAX = 60
const OPEN_DEPTH = 2
const SIGNS: Readonly<Record<JsonNode['kind'], string>> = { same: '', changed: '~', added: '+', removed: '−' }

export interface JsonViewProps {
  readonly tree: JsonNode
  readonly isCompared: boolean
  readonly isSameText: boolean
}

export function JsonView({ tree, isCompared, isSameText }: JsonViewProps) {
  return (
    <>
      {isCompared && (
        <p>
          {tree.changes > 0
            ? `${tree.changes.toLocaleString()} places differ`
            : isSameText
              ? 'The two are the same.'
              : 'Only spacing, the order of names or the writing of numbers differs: see the text.'}
        </p>
      )}
      <div class="tree">
        <Node node={tree} depth={0} isCompared={isCompared} />
      </div>
    </>
  )
}

interface NodeProps {
  readonly node: JsonNode
  readonly depth: number
  readonly isCompared: boolean
}

function Node({ node, depth, isCompared }: NodeProps) {
  const { children, changes, shape } = node
  const [isOpen, setOpen] = useState(
    depth === 0 ||
      (children.length <= OPEN_CHILDREN_MAX &&
        (isCompared ? node.kind === 'changed' && changes > 0 : depth < OPEN_DEPTH)),
  )
  if (shape === 'value' || children.length === 0)
    return (
      <div class="leaf">
        <Told node={node} isCompared={isCompared} />
      </div>
    )
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Told node={node} isCompared={isCompared} />
        {isCompared && !isOpen && node.kind === 'changed' && <span class="count">{changes}</span>}
      </summary>
      {isOpen && <Children {...{ node, depth, isCompared }} />}
    </details>
  )
}

function Children({ node: { children, shape }, depth, isCompared }: NodeProps) {
  const [shown, setShown] = useState(SHOWN_AT_ONCE)
  // What differs comes first where not all is shown; in a list the places keep their order.
  const first =
    isCompared && children.length > shown && shape === '{'
      ? [...children].sort((one, other) => Number(one.changes === 0) - Number(other.changes === 0))
      : children
  return (
    <>
      {first.slice(0, shown).map((child) => (
        <Node key={child.key} node={child} depth={depth + 1} isCompared={isCompared} />
      ))}
      {children.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + SHOWN_AT_ONCE * 5)}>
          {children.length - shown} more
        </button>
      )}
    </>
  )
}

function Told({ node, isCompared }: { readonly node: JsonNode; readonly isCompared: boolean }) {
  const { key, kind, text, was, shape, changes } = node
  const isMarked = isCompared && (kind === 'added' || kind === 'removed' || was !== undefined)
  return (
    <span class={isMarked ? `told told-${kind}` : 'told'}>
      {isMarked && (
        <>
          <span aria-hidden="true">{SIGNS[kind]} </span>
          <span class="spoken">{kind} </span>
        </>
      )}
      {key !== '' && <span class="json-key">{key}: </span>}
      {was !== undefined && (
        <>
          <del>{was}</del>{' '}
        </>
      )}
      <span class={shape === 'value' ? '' : 'faint'}>{text}</span>
      {isCompared && !isMarked && changes > 0 && <span class="spoken"> has changes</span>}
    </span>
  )
}
