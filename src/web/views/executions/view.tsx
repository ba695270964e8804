import type { ViewProps } from '../../app.tsx'

export function ExecutionsView({ parts }: ViewProps) {
  return <h1>Executions {parts.join('/')}</h1>
}
