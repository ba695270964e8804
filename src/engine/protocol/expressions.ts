/**
 * `${ref.output.x}` as Conductor evaluates it: as a whole string it keeps its type, inside a longer one it becomes text; a
 * missing value is null. Paths have names and `[index]`; filters and functions are not supported and are refused.
 */

import { InvalidError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json.ts'

/** What the first name of an expression is: `workflow`, a task's reference name, `CPEWF_TASK_ID`. */
export type Roots = (name: string) => Json | undefined

const WHOLE = /^\$\{([^{}]+)\}$/
const EMBEDDED = /(\$?)\$\{([^{}]*)\}/g

export function evaluateTemplate(template: JsonObject, roots: Roots): JsonObject {
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, evaluate(value, roots)]))
}

function evaluate(value: Json, roots: Roots): Json {
  if (typeof value === 'string') return evaluateText(value, roots)
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => evaluate(item, roots))
  if (typeof value === 'object' && value !== null) return evaluateTemplate(value as JsonObject, roots)
  return value
}

function evaluateText(text: string, roots: Roots): Json {
  const [, alone] = WHOLE.exec(text) ?? []
  if (alone !== undefined) return follow(alone, roots)
  return text.replace(EMBEDDED, (match, escape: string, path: string) =>
    // `$${x}` is an escape for `${x}`.
    escape === '$' ? match.slice(1) : renderText(follow(path, roots)),
  )
}

function follow(path: string, roots: Roots): Json {
  const [first, ...steps] = stepsOf(path.trim())
  let at: Json = (typeof first === 'string' ? roots(first) : undefined) ?? null
  for (const step of steps) {
    if (Array.isArray(at)) {
      const items = at as readonly Json[]
      at = typeof step === 'number' ? (items.at(step) ?? null) : null
    } else if (typeof at === 'object' && at !== null) {
      const fields = at as JsonObject
      at = typeof step === 'string' && Object.hasOwn(fields, step) ? (fields[step] ?? null) : null
    } else return null
  }
  return at
}

function stepsOf(path: string): readonly (string | number)[] {
  const steps = path.match(/[^.[\]]+|\[(?:-?\d+|'[^']*')\]/g) ?? []
  if (steps.join('').length + (path.match(/\./g) ?? []).length !== path.length)
    throw new InvalidError(
      'task-queue/bad-expression',
      `evaluate "\${${path}}": the in-process queue supports only names and [index]`,
    )
  return steps.map((step) => {
    if (!step.startsWith('[')) return step
    const inner = step.slice(1, -1)
    return inner.startsWith("'") ? inner.slice(1, -1) : Number(inner)
  })
}

/** As Java prints it: objects in braces with `=`, arrays in brackets, missing values as `null`. */
function renderText(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(renderText).join(', ')}]`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value as JsonObject)
      .map(([name, item]) => `${name}=${renderText(item)}`)
      .join(', ')}}`
  return String(value)
}
