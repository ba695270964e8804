/**
 * Turns of readings. In each turn of the event loop one reading begins and one goes on, in the order of asking: however many there
 * are, whatever else the process does is delayed by two portions at a time, and short readings do not wait for long ones.
 */

const beginning: (() => void)[] = []
const goingOn: (() => void)[] = []
/** Whether one has begun in this turn. */
let hasBegun = false
let isScheduled = false

/** Before the first portion of a reading. Returns a promise only if it must wait. */
export function turnToBegin(): Promise<void> | undefined {
  if (hasBegun || beginning.length > 0) return wait(beginning)
  hasBegun = true
  schedule()
  return undefined
}

/** Before each further portion. Resolves in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  return wait(goingOn)
}

function wait(line: (() => void)[]): Promise<void> {
  return new Promise((resolve) => {
    line.push(resolve)
    schedule()
  })
}

function schedule(): void {
  if (isScheduled) return
  isScheduled = true
  setImmediate(startTurn)
}

function startTurn(): void {
  isScheduled = false
  const next = [beginning.shift(), goingOn.shift()] as const
  hasBegun = next[0] !== undefined
  for (const resolve of next) resolve?.()
  if (hasBegun || beginning.length + goingOn.length > 0) schedule()
}
