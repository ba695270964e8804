/** The workflows of the engines of this server: asked through Conductor's API, as those of any Conductor, but in this process. */

import { BoundedMap } from '../../base/bounded-map.ts'
import type { Clock } from '../../base/clock.ts'
import type { Engines } from '../../runtime/engines.ts'
import { ENGINE_TENANTS_MAX } from '../../runtime/limits.ts'
import { openEngineWorkflowView } from '../../runtime/views/open-workflow-views.ts'
import type { WorkflowView, WorkflowViews } from '../../runtime/views/workflow-view.ts'
import type { AppOf } from './worker-door.ts'

export function openEngineWorkflows(parts: {
  readonly appOf: AppOf
  readonly engines: Pick<Engines, 'of'>
  readonly clock?: Clock
}): WorkflowViews {
  const { appOf, engines, clock } = parts
  // They hold no connection, and so are never closed.
  const views = new BoundedMap<string | undefined, WorkflowView>({
    max: ENGINE_TENANTS_MAX,
    evict: 'least-recently-used',
  })
  const open = (tenant: string | undefined): WorkflowView =>
    openEngineWorkflowView({
      answer: async (request) => (await appOf(tenant)).fetch(request),
      readerOf: async () => (await engines.of(tenant)).reader,
      ...(clock === undefined ? {} : { clock }),
    })
  return { of: (tenant) => views.getOrAdd(tenant, () => open(tenant)) }
}
