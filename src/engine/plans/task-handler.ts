/** What a function declares about itself, and how a name or a function becomes a handler. */

import type { Handler, HandlerRegistry, RegisteredHandler } from './handler-registry.ts'
import type { TaskDeclaration } from './plan-task.ts'

const DECLARATIONS = new WeakMap<Handler, TaskDeclaration>()

/**
 * Declares which keys a function reads and sets, and how often it is tried: for the lint, the builder and the run.
 *
 * ```ts
 * plan.Add('load', 3, declareTask(load, { needs: ['clean_users'], retry: { attempts: 3, delayMs: 1000 } }))
 * ```
 */
export function declareTask<H extends Handler>(handler: H, declaration: TaskDeclaration): H {
  DECLARATIONS.set(handler, declaration)
  return handler
}

export function findHandler(registry: HandlerRegistry, process: string | Handler): RegisteredHandler {
  if (typeof process !== 'string') return { handler: process, declaration: DECLARATIONS.get(process) ?? {} }
  const { handler, declaration } = registry.find(process)
  return { handler, declaration: { ...DECLARATIONS.get(handler), ...declaration } }
}
