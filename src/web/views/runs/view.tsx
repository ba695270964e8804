import type { ViewProps } from '../../app.tsx'

export function RunsView({ parts }: ViewProps) {
  return <h1>Runs {parts.join('/')}</h1>
}
