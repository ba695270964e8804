/**
 * Which requests a server with many connections still takes.
 *
 * - VI-1 The last connections are kept for operators, and the very last for health checks: they are answered whoever holds the others.
 * - VI-2 Who may not have a place is told so, and when to come back. When all are taken, the oldest idle connection makes room.
 * - VI-3 A place is held until the response is complete or its connection is gone.
 */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { UnavailableError } from '../../base/errors.ts'
import { HttpConnections, type HttpConnection } from '../../base/http-connections.ts'
import { CallerPlaces, type PlaceLimits } from '../access/caller-places.ts'
import type { Caller } from '../access/callers.ts'
import {
  HTTP_CONNECTIONS_FOR_HEALTH,
  HTTP_CONNECTIONS_FOR_OPERATORS,
  HTTP_CONNECTIONS_MAX,
  HTTP_IDLE_MIN_MS,
} from '../limits.ts'

export interface ConnectionLimits {
  readonly max: number
  /** Of these the last ones, for operators and health checks. */
  readonly forOperators: number
  readonly forHealth: number
  readonly places: Partial<PlaceLimits>
}

/** A request, as far as the door has to decide whether it is taken. */
export interface Visit {
  /** Called when it is known who asks. Throws a refusal. */
  enter(who: Caller | 'health' | 'anybody'): void
  /** Called by who has entered and stays to follow events. Throws a refusal. */
  follow(caller: Caller): void
}

type Seat = 'anybody' | 'operators' | 'health'

export class Visits {
  readonly connections: HttpConnections
  readonly #limits: ConnectionLimits
  readonly #places: CallerPlaces
  /** Those that are not for anybody. */
  readonly #kept = new WeakMap<HttpConnection, Seat>()
  readonly #callers = new WeakMap<HttpConnection, string>()

  constructor(server: Server, limits: Partial<ConnectionLimits> = {}) {
    this.#limits = {
      max: HTTP_CONNECTIONS_MAX,
      forOperators: HTTP_CONNECTIONS_FOR_OPERATORS,
      forHealth: HTTP_CONNECTIONS_FOR_HEALTH,
      places: {},
      ...limits,
    }
    this.#places = new CallerPlaces(this.#limits.places)
    this.connections = new HttpConnections(server, { accept: (connection) => this.#seat(connection) })
  }

  /** A connection of a trusted proxy is not counted for the caller: it carries requests of many. */
  begin(
    { socket }: IncomingMessage,
    response: ServerResponse,
    { isShared }: { readonly isShared: boolean },
  ): Visit {
    const connection = this.connections.of(socket)
    const seat = connection === undefined ? 'anybody' : (this.#kept.get(connection) ?? 'anybody')
    // One request each, so that they are soon free again.
    if (seat !== 'anybody') response.shouldKeepAlive = false
    const held: (() => void)[] = []
    let isOver = false
    response.once('close', () => {
      isOver = true
      for (const release of held) release()
    })
    return {
      enter: (who) => {
        if (!maySit(who, seat)) throw full()
        // Who has gone meanwhile needs no place, and would not give it back.
        if (typeof who === 'string' || isOver) return
        if (connection !== undefined && !isShared) this.#count(connection, who, response)
        held.push(this.#places.take('requests', who))
      },
      follow: (caller) => {
        if (!isOver) held.push(this.#places.take('followers', caller))
      },
    }
  }

  #seat(connection: HttpConnection): void {
    const { connections } = this
    const { max, forOperators, forHealth } = this.#limits
    const forAnybody = max - forOperators - forHealth
    const closeIdle = (idleMs: number): boolean => connections.closeOldestIdle({ idleMs, except: connection })
    if (connections.size > forAnybody) closeIdle(HTTP_IDLE_MIN_MS)
    if (connections.size > max && !closeIdle(0)) {
      // Each of the others is in the middle of a request.
      for (const socket of connection.sockets) socket.destroy()
    }
    if (connections.size <= forAnybody) return
    this.#kept.set(connection, connections.size > max - forHealth ? 'health' : 'operators')
  }

  /** It counts for who has sent the latest request on it. */
  #count(connection: HttpConnection, caller: Caller, response: ServerResponse): void {
    if (this.#callers.get(connection) === caller.name) return
    connection.onClose?.()
    this.#callers.delete(connection)
    try {
      connection.onClose = this.#places.take('connections', caller)
      this.#callers.set(connection, caller.name)
    } catch (error) {
      connection.onClose = undefined
      response.shouldKeepAlive = false
      throw error
    }
  }
}

function maySit(who: Caller | 'health' | 'anybody', seat: Seat): boolean {
  if (who === 'health' || seat === 'anybody') return true
  return seat === 'operators' && who !== 'anybody' && who.role !== 'viewer'
}

function full(): UnavailableError {
  return new UnavailableError(
    'server/full',
    'accept a request: the server has as many connections as it may',
    {
      retryAfterMs: 5_000,
      next: 'Try again later, or close connections that are not used.',
    },
  )
}
