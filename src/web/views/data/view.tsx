import type { ViewProps } from '../../app.tsx'

export function DataView({ parts }: ViewProps) {
  return <h1>Data {parts.join('/')}</h1>
}
