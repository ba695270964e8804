/** The name of one case: what it takes to see it again. */

import { InvalidError } from '../../base/errors.ts'

export interface Replay {
  readonly strength: 'soft' | 'hard'
  /** `seeds`: the budget of random schedules. */
  readonly mode: 'cases' | 'seeds'
  readonly answers: readonly number[]
}

/** Such as `hard/cases/37=2,41=1`: all answers but these are calm. */
export function writeReplay({ strength, mode, answers }: Replay): string {
  const told = answers.flatMap((answer, index) => (answer === 0 ? [] : [`${index}=${answer}`]))
  return `${strength}/${mode}/${told.join(',')}`
}

export function readReplay(text: string): Replay {
  const match = /^(soft|hard)\/(cases|seeds)\/((?:\d{1,5}=\d{1,3}(?:,|$))*)$/.exec(text)
  if (match === null) {
    throw new InvalidError('testing/bad-replay', `replay ${JSON.stringify(text)}: it names no case`, {
      next: 'Copy the text after "replay" from the message of a failed case.',
    })
  }
  const [, strength, mode, told = ''] = match
  const answers: number[] = []
  for (const part of told.split(',').filter((one) => one !== '')) {
    const [index = 0, answer = 0] = part.split('=').map(Number)
    while (answers.length <= index) answers.push(0)
    answers[index] = answer
  }
  return { strength: strength as Replay['strength'], mode: mode as Replay['mode'], answers }
}
