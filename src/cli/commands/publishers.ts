import type { UnfencedPublisher } from '../../recovery/publishers.ts'

/** One line about somebody who publishes without a hard fence. */
export function describePublisher({ kind, name, commits, newest, worker }: UnfencedPublisher): string {
  const times = commits === 1 ? '1 commit' : `${commits} commits`
  const who = {
    task: `task ${name}`,
    actor: `actor ${name}`,
    python: `${name}, which knows no fence`,
  }[kind]
  return `${who}: ${times}, the newest ${newest.slice(0, 12)}${worker === undefined ? '' : ` by ${worker}`}`
}
