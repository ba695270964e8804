/** The lines of a task's log about its publication: written by a worker, read by whoever shows the task. */

import { defined } from '../../base/defined.ts'
import type { PublicationResult } from '../../publication/publication.ts'
import type { FenceStrength } from '../../publication/strategy.ts'

/** What the lines of a log say; what none says is left out. */
export interface ToldPublication {
  readonly outcome?: PublicationResult['action'] | 'adopted'
  readonly outputRef?: string
  readonly strength?: FenceStrength
  readonly supersededRef?: string
  /** The tag that keeps it, or the staging branch of what was refused. */
  readonly evidence?: string
}

export function tellPublished(
  publication: Pick<PublicationResult, 'action' | 'outputRef' | 'strength'>,
): string {
  const { action, outputRef, strength } = publication
  return `published: ${action} at ${outputRef}, ${strength} fence`
}

export function tellAdopted(of: {
  readonly outputRef: string
  readonly runId: string
  readonly strength: FenceStrength
}): string {
  return `adopted: ${of.outputRef}, published by ${of.runId}, ${of.strength} fence; the body did not run`
}

/** A replaced commit never disappears silently: the task's log names it, and the tag that keeps it. */
export function tellSuperseded(supersededRef: string, evidenceTag: string): string {
  return `superseded ${supersededRef}, which stays reachable as tag "${evidenceTag}"`
}

export function tellKept(stagingBranch: string, stagedRef: string | undefined): string {
  return `kept: staging branch "${stagingBranch}" at ${stagedRef ?? '(nothing staged)'}`
}

const REF = '([0-9a-f]{64})'
const FENCE = '(soft|hard) fence'
const PUBLISHED = new RegExp(`^published: (merged|completed|replaced|relocated) at ${REF}, ${FENCE}$`)
const ADOPTED = new RegExp(`^adopted: ${REF}, published by .+, ${FENCE}; the body did not run$`)
const SUPERSEDED = new RegExp(`^(?:warn: )?superseded ${REF}, which stays reachable as tag "([^"]+)"$`)
const KEPT = /^kept: staging branch "([^"]+)" at /

/** Whether it tells how an attempt ended; any body may log such lines, too. */
export function isEndLine(line: string): boolean {
  return PUBLISHED.test(line) || ADOPTED.test(line) || line.startsWith('failed: ')
}

/** What a body logs must not look as if its worker had written it. */
export function quoteOurs(text: string): string {
  return text.replace(/^(?=(?:published|adopted|kept|steps): )/gm, 'info: ')
}

/** The last line of each kind counts: what a body logs comes before it. */
export function readPublicationLines(lines: readonly string[]): ToldPublication {
  const last = (pattern: RegExp): readonly (string | undefined)[] =>
    pattern.exec(lines.findLast((line) => pattern.test(line)) ?? '') ?? []
  const [, action, publishedRef, strength] = last(PUBLISHED)
  const [, adoptedRef, adoptedStrength] = last(ADOPTED)
  const [, supersededRef, tag] = last(SUPERSEDED)
  const [, branch] = last(KEPT)
  return defined({
    outcome: (action ?? (adoptedRef && 'adopted')) as ToldPublication['outcome'],
    outputRef: publishedRef ?? adoptedRef,
    strength: (strength ?? adoptedStrength) as FenceStrength | undefined,
    supersededRef,
    evidence: tag ?? branch,
  })
}
