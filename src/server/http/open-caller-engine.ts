/** The engine of whoever asks. A caller reaches only that of its own tenant. */

import { MissingError } from '../../base/errors.ts'
import type { Engine } from '../../engine/host/open-engine.ts'
import type { Engines } from '../../runtime/engines.ts'
import { requireRight, type Right } from '../access/callers.ts'
import type { Asked } from './environment.ts'

/** Throws `api/forbidden` or `api/no-engine`. */
export async function openCallerEngine(
  engines: Engines | undefined,
  asked: Asked,
  right: Right,
): Promise<Engine> {
  const caller = asked.get('caller')
  requireRight(caller, right)
  if (engines !== undefined) return engines.of(caller.tenant)
  throw new MissingError('api/no-engine', `${right}: this server runs no executions`, {
    next: 'Start it with --engine, or ask another server.',
  })
}
