// One JSON request with a bound, for checks and smoke tests.

const REQUEST_MS = 30_000

export interface JsonAnswer {
  readonly status: number
  /** Parsed when it is JSON, the bare text otherwise, `undefined` when empty. */
  readonly body: unknown
}

export interface JsonRequest {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export async function askJson(url: string, request: JsonRequest = {}): Promise<JsonAnswer> {
  const bound = AbortSignal.timeout(REQUEST_MS)
  const answer = await fetch(url, {
    method: request.method ?? (request.body === undefined ? 'GET' : 'POST'),
    headers: {
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
    signal: request.signal === undefined ? bound : AbortSignal.any([bound, request.signal]),
  })
  return { status: answer.status, body: parse(await answer.text()) }
}

function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
