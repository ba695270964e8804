/** Three questions, one recommendation: for a person at a terminal. */

import { createInterface } from 'node:readline'
import { InvalidError } from '../../base/errors.ts'
import { PLAN_UNCLEAR_ANSWERS_MAX } from '../limits.ts'
import {
  SharedSpaceDecisionMaker,
  validateDecision,
  type SharingDecision,
  type SharingRequirements,
} from './decisions.ts'

const QUESTIONS = [
  'Do the tasks need data of each other?',
  'Does one of them have to wait for the end of another?',
  'Do they work on the same data at the same time?',
] as const

/** Without a person to ask: a pipeline. */
const ASSUMED: readonly boolean[] = [true, true, false]

export interface QuickDecisionOptions {
  /** Default: `process.stdin`. Asked only if it is a terminal. */
  readonly input?: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  /** Default: `process.stdout`. */
  readonly output?: NodeJS.WritableStream
  /** Default: `SharedSpaceDecisionMaker`. */
  readonly decide?: (requirements: SharingRequirements) => SharingDecision
}

/**
 * Asks whether tasks communicate, depend on each other and work in real time; prints and returns the decision. Without a
 * terminal it assumes yes, yes, no.
 */
export async function quickDecisionTool(options: QuickDecisionOptions = {}): Promise<SharingDecision> {
  const { input = process.stdin, output = process.stdout, decide = SharedSpaceDecisionMaker } = options
  const answers = input.isTTY === true ? await askAll(input, output) : ASSUMED
  const [needsCommunication = false, hasDependency = false, needsRealtime = false] = answers
  const requirements = { needsCommunication, hasDependency, needsRealtime }
  const decision = decide(requirements)
  for (const line of describeDecision(requirements, decision)) output.write(`${line}\n`)
  return decision
}

function describeDecision(requirements: SharingRequirements, decision: SharingDecision): readonly string[] {
  const { pattern, alternative, reason, codeExample } = decision
  const { valid, warnings } = validateDecision(requirements, decision)
  return [
    pattern === null ? `Instead: ${alternative ?? 'do not share data'}` : `Pattern: ${pattern}`,
    `Reason: ${reason}`,
    ...(codeExample === null ? [] : [`Example: ${codeExample}`]),
    ...(warnings.length === 0
      ? []
      : [valid ? 'Warnings:' : 'Not valid:', ...warnings.map((text) => `- ${text}`)]),
  ]
}

async function askAll(
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<readonly boolean[]> {
  const lines = createInterface({ input })
  try {
    const reader = lines[Symbol.asyncIterator]()
    const answers: boolean[] = []
    for (const question of QUESTIONS) answers.push(await ask(question, reader, output))
    return answers
  } finally {
    lines.close()
  }
}

async function ask(
  question: string,
  reader: AsyncIterator<string>,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  for (let tries = 0; tries < PLAN_UNCLEAR_ANSWERS_MAX; tries++) {
    output.write(`${question} (y/n) `)
    const read = await reader.next()
    if (read.done === true) break
    if (/^\s*y(es)?\s*$/i.test(read.value)) return true
    if (/^\s*no?\s*$/i.test(read.value)) return false
  }
  throw new InvalidError('plan/no-answer', `ask "${question}": no answer was yes or no`, {
    next: 'Answer with y or n.',
  })
}
