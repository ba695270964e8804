import type { ViewProps } from '../../route.ts'

export function DataView({ parts }: ViewProps) {
  return <h1>Data {parts.join('/')}</h1>
}
