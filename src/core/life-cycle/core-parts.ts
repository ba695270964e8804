import type { EventLog } from '../events/event-manager.ts'
import type { WritePace } from '../namespaces/guarded-write.ts'
import type { MakeId } from '../namespaces/make-id.ts'
import type { Scopes } from '../namespaces/scopes.ts'
import type { VariableSpace } from '../variables/variable-store.ts'

/** The parts of an open core, for modules of this room. */
export interface CoreParts {
  readonly scopes: Scopes
  readonly events: EventLog
  readonly variables: VariableSpace
  readonly pace: WritePace
  readonly makeId: MakeId
}
