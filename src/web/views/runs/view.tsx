/** Workflows of the configured Conductor or of the engine, and one of them. */

import type { ViewProps } from '../../route.ts'
import { RunList } from './list.tsx'
import { RunPage } from './run.tsx'
import './runs.css'

export function RunsView({ parts, query }: ViewProps) {
  const [id, side = '', task] = parts
  if (id === undefined) return <RunList query={query} />
  return <RunPage key={id} {...{ id, side, task }} />
}
