/** Functions by dotted names, so that a plan can name its tasks and subscribers: `scripts.runtime.api.plan.Task1`. */

import { InvalidError, MissingError, RefusedError } from '../../base/errors.ts'
import { suggest } from '../../base/suggestion.ts'
import type { TaskDeclaration } from './plan-task.ts'

/** The functions of authors take what their callers pass; only the author knows the types behind the first two. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- `unknown` would refuse every function that states its types
export type Handler = (...args: any[]) => unknown

export interface RegisteredHandler {
  readonly handler: Handler
  readonly declaration: TaskDeclaration
}

const NAME = /^[\p{L}_][\p{L}\p{N}_-]*(\.[\p{L}_][\p{L}\p{N}_-]*)*$/u

/**
 * ```ts
 * handlers.register('reports.collect', collect, { produces: ['raw_sales'] })
 * handlers.registerAll('scripts.plan', { Task1, Task2 })
 * ```
 */
export class HandlerRegistry {
  readonly #handlers = new Map<string, RegisteredHandler>()

  register(name: string, handler: Handler, declaration: TaskDeclaration = {}): void {
    if (!NAME.test(name))
      throw new InvalidError(
        'plan/bad-handler-name',
        `register the handler ${JSON.stringify(name)}: a name has words of letters, digits, "_" and "-", joined by dots`,
      )
    const known = this.#handlers.get(name)
    if (known !== undefined && known.handler !== handler)
      throw new RefusedError(
        'plan/handler-exists',
        `register the handler "${name}": another function has this name`,
        {
          next: 'Choose another name, or use a registry of your own.',
        },
      )
    this.#handlers.set(name, { handler, declaration })
  }

  /** Each function under the prefix and its own name. */
  registerAll(prefix: string, handlers: Readonly<Record<string, Handler>>): void {
    for (const [name, handler] of Object.entries(handlers)) this.register(`${prefix}.${name}`, handler)
  }

  find(name: string): RegisteredHandler {
    const found = this.#handlers.get(name)
    if (found !== undefined) return found
    const near = suggest(name, [...this.#handlers.keys()])
    throw new MissingError('plan/no-such-handler', `find the handler "${name}": it is not registered`, {
      details: { name },
      next: near === undefined ? `Register it: handlers.register("${name}", …).` : `Did you mean "${near}"?`,
    })
  }
}

/** The handlers of this process. */
export const handlers = new HandlerRegistry()
