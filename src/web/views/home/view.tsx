import type { ViewProps } from '../../route.ts'

export function HomeView({ parts }: ViewProps) {
  return <h1>Home {parts.join('/')}</h1>
}
