import type { ViewProps } from '../../route.ts'

export function ExecutionsView({ parts }: ViewProps) {
  return <h1>Executions {parts.join('/')}</h1>
}
