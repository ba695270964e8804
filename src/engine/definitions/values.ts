/** Small questions about values from outside. */

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value for a message, shortened. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) return typeof value
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
