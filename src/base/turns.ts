/**
 * Turns of long readings. Of all that ask for one, one goes on in each turn of the event loop, in the order of asking: however
 * many there are, whatever else the process does is delayed by one portion at a time.
 */

const waiting: (() => void)[] = []

/** Resolves in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(grant)
  })
}

function grant(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(grant)
}
