/** What is said of a verification. Pure. */

import type { Schemas } from '../../api.ts'

export type Verification = Schemas['Verification']
type Check = Verification['checks'][number]

/** What is checked unless the address says more. */
const CHECKED_COMMITS = 1_000
export const CHECKED_COMMITS_MAX = 10_000

export function readLimit(text: string | undefined): number {
  const asked = Number(text)
  return Number.isInteger(asked) && asked >= 1 && asked <= CHECKED_COMMITS_MAX ? asked : CHECKED_COMMITS
}

type Extent = Pick<Verification, 'commits' | 'stopped' | 'oldest'>

export function sayExtent(extent: Extent, since: string | undefined): string {
  const { commits, stopped, oldest } = extent
  const were = commits === 1 ? 'was' : 'were'
  const newest = commits === 1 ? 'The newest commit' : `The newest ${say(commits, 'commit')}`
  const down = `${were} checked, down to ${(oldest ?? '').slice(0, 8)}`
  switch (stopped) {
    case 'beginning':
      return [
        commits === 1 ? 'Its only commit was checked.' : `All ${say(commits, 'commit')} were checked.`,
        ...(since === undefined ? [] : [`${since} is not among them.`]),
      ].join(' ')
    case 'since':
      if (commits === 0) return `No commit is above ${since ?? ''}: nothing was checked.`
      return `${say(commits, 'commit')} above ${since ?? ''} ${were} checked, and none below.`
    case 'limit':
      return `${newest} ${down}, and none below.`
    case 'time':
      return `${newest} ${down}; then the time for it was over.`
  }
}

/** `undefined`: nothing was looked at. */
export function judge({
  holds,
  commits,
}: Pick<Verification, 'holds' | 'commits'>): 'holds' | 'refuted' | undefined {
  if (!holds) return 'refuted'
  return commits === 0 ? undefined : 'holds'
}

export interface FoundOfCheck {
  readonly check: Check
  /** The newest. */
  readonly findings: Verification['findings']
  /** How many more there are. */
  readonly left: number
}

const FINDINGS_SHOWN = 100

export function groupFindings({
  checks,
  findings,
}: Pick<Verification, 'checks' | 'findings'>): readonly FoundOfCheck[] {
  return checks.map((check) => {
    const shown = findings.filter((finding) => finding.check === check.check).slice(0, FINDINGS_SHOWN)
    return { check, findings: shown, left: check.refuted - shown.length }
  })
}

/** Whether a check was not judged for all of what was walked. */
export function isLeftOpen(
  { check }: Pick<Check, 'check'>,
  found: Pick<Verification, 'open_outputs' | 'unknown_workflows'>,
): boolean {
  return check === 'nothing-lost' && found.open_outputs + found.unknown_workflows.length > 0
}

/** `1 commit`, `1,200 commits`. */
export function say(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`
}
