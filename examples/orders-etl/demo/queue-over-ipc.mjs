// Uses the queue of another process: every call and every response is a message.
import { UnavailableError } from 'perago'

/** How many arguments of each call are data; the last one, about cancelling, is not sent. */
const CALLS = { poll: 1, readTask: 1, readWorkflowStatus: 1, renewLease: 1, postResult: 1, appendLog: 2 }

/** In the process that has the queue. `before` may delay a call for ever. */
export function serveQueue(child, queue, before) {
  child.on('message', ({ id, call, given }) => {
    const answer = (message) => child.connected && child.send({ id, ...message }, () => undefined)
    const work = async () => {
      await before(call, given)
      return queue[call](...given)
    }
    work().then(
      (value) => answer({ value }),
      (error) => answer({ problem: error.message }),
    )
  })
}

/** In the process that uses the queue. */
export function queueOfParent() {
  const waiting = new Map()
  let calls = 0
  process.on('message', ({ id, value, problem }) => {
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (problem === undefined) resolve(value)
    else reject(new UnavailableError('demo/no-answer', problem))
  })
  const ask =
    (call, count) =>
    (...given) =>
      new Promise((resolve, reject) => {
        const id = ++calls
        waiting.set(id, { resolve, reject })
        process.send({ id, call, given: given.slice(0, count) })
      })
  return Object.fromEntries(Object.entries(CALLS).map(([call, count]) => [call, ask(call, count)]))
}
