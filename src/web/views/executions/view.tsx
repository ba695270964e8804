/** Executions of the engine, and one of them. */

import type { ViewProps } from '../../route.ts'
import { ExecutionPage } from './execution.tsx'
import './executions.css'
import { ExecutionList } from './list.tsx'

export function ExecutionsView({ parts, query }: ViewProps) {
  const [id, side = '', name] = parts
  if (id === undefined) return <ExecutionList query={query} />
  return <ExecutionPage key={id} {...{ id, side, name, query }} />
}
