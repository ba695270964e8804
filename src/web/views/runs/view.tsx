import type { ViewProps } from '../../route.ts'

export function RunsView({ parts }: ViewProps) {
  return <h1>Runs {parts.join('/')}</h1>
}
