/** Asks the thread that lays graphs out. It is started for the first graph, and stays. */

import { NODE_HEIGHT, NODE_WIDTH, type DrawnGraph, type Layout } from './graph.ts'
import type { LayoutAnswer, LayoutQuestion } from './layout-worker.ts'

let worker: Worker | undefined
let turns = 0

export function layOut(graph: DrawnGraph, direction: 'LR' | 'TB', signal: AbortSignal): Promise<Layout> {
  worker ??= openWorker()
  const asked = worker
  turns += 1
  const turn = turns
  const ids = graph.nodes.map(({ id }) => id)
  const question: LayoutQuestion = {
    ...{ turn, ids, direction, width: NODE_WIDTH, height: NODE_HEIGHT },
    edges: graph.edges.map(({ from, to }) => [from, to] as const),
  }
  return new Promise((resolve, reject) => {
    const over = new AbortController()
    const end = (): void => over.abort()
    const listen = ({ data }: MessageEvent<LayoutAnswer>): void => {
      if (data.turn !== turn) return
      end()
      if ('layout' in data) resolve(data.layout)
      else reject(new Error(`The graph cannot be drawn: ${data.problem}`))
    }
    const fail = (): void => {
      end()
      worker = undefined
      reject(new Error('The graph cannot be drawn: the thread that lays it out did not start.'))
    }
    asked.addEventListener('message', listen, { signal: over.signal })
    asked.addEventListener('error', fail, { signal: over.signal })
    signal.addEventListener('abort', end, { signal: over.signal })
    asked.postMessage(question)
  })
}

interface TrustedTypes {
  readonly defaultPolicy: object | null
  createPolicy(name: string, rules: { readonly createScriptURL: (url: string) => string }): object
}

/** The policy of the page asks for its word before a script is started by its address. Only its own are. */
function openWorker(): Worker {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes }
  if (trustedTypes?.defaultPolicy === null) {
    const own = import.meta.url.replace(/[^/]*$/, '')
    trustedTypes.createPolicy('default', {
      createScriptURL: (url) => {
        if (url.startsWith(own)) return url
        throw new TypeError(`${url} is no script of this page`)
      },
    })
  }
  return new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' })
}
