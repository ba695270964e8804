import type { ViewProps } from '../../route.ts'

export function OperationsView({ parts }: ViewProps) {
  return <h1>Operations {parts.join('/')}</h1>
}
