/** Reads the body of a request: limited in size, JSON in valid UTF-8. */

import { InvalidError, isPeragoError } from '../../base/errors.ts'
import { JSON_DEPTH_MAX } from '../../core/limits.ts'
import { API_BODY_MAX_BYTES } from '../limits.ts'

/** Throws `api/not-json`, `api/body-too-large`, `api/malformed-json` or `api/nested-too-deep`. */
export async function readJsonBody(request: Request, maxBytes = API_BODY_MAX_BYTES): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  // A form of another site can be posted by a browser without a preflight request, but never as JSON.
  if (type !== 'application/json') {
    throw new InvalidError('api/not-json', 'read the body: its content type must be application/json', {
      next: 'Send JSON, with "Content-Type: application/json".',
    })
  }
  const body = parse(await readBoundedText(request, maxBytes))
  checkDepth(body)
  return body
}

/** Throws `api/body-too-large`, or `api/malformed-json` for what is not UTF-8. */
export async function readBoundedText(request: Request, maxBytes: number): Promise<string> {
  return decode(await readBounded(request, maxBytes))
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw malformed(cause instanceof Error ? cause.message : 'it is not JSON')
  }
}

/** Level by level, because recursion would fail on a body that is nested too deeply. */
function checkDepth(body: unknown): void {
  let level: unknown[] = [body]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > JSON_DEPTH_MAX) {
      throw new InvalidError(
        'api/nested-too-deep',
        `read the body: it is nested more than ${JSON_DEPTH_MAX} levels deep`,
        { next: 'Send flatter data.' },
      )
    }
    level = level.flatMap((value): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    )
  }
}

async function readBounded(request: Request, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  } catch (cause) {
    if (isPeragoError(cause)) throw cause
    // The client has gone or took too long. Nobody reads the response, and it is not an internal error.
    throw new InvalidError('api/body-cut', 'read the body: it is incomplete', {
      cause,
      next: 'Send it again.',
    })
  }
  return Buffer.concat(chunks)
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw malformed('it is not UTF-8')
  }
}

function malformed(problem: string): InvalidError {
  return new InvalidError('api/malformed-json', `read the body: ${problem}`, {
    next: 'Send one JSON document.',
  })
}

function tooLarge(maxBytes: number): InvalidError {
  return new InvalidError('api/body-too-large', `read the body: it has more than ${maxBytes} bytes`, {
    next: 'Store large data elsewhere, and send its address.',
  })
}
