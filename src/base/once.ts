/**
 * A function that does its work once: every later call returns what the first one returned. For `close()`, which may be
 * called twice and then returns the same promise, and for what is opened when it is first needed.
 *
 * ```ts
 * readonly close = once(() => this.#close())
 * ```
 */
export function once<Args extends readonly unknown[], T>(work: (...args: Args) => T): (...args: Args) => T {
  let first: { readonly returned: T } | undefined
  return (...args) => (first ??= { returned: work(...args) }).returned
}
