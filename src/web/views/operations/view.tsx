import type { ViewProps } from '../../app.tsx'

export function OperationsView({ parts }: ViewProps) {
  return <h1>Operations {parts.join('/')}</h1>
}
