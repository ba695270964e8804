import type { ViewProps } from '../../app.tsx'

export function HomeView({ parts }: ViewProps) {
  return <h1>Home {parts.join('/')}</h1>
}
