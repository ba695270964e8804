/**
 * The one provider of real servers in tests. It tries, in this order: an endpoint named by the environment, a
 * container when a Docker engine answers, the machine's own programs. What the environment names must answer:
 * there, not reaching it is a failure. When nothing works the tests of that server are skipped with the reason,
 * and with CI=true they fail instead, so that no gate is green over servers it never saw.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, type TestContext } from 'vitest'
import { CONDUCTOR } from './conductor.ts'
import { dockerAnswers, startContainer } from './containers.ts'
import { ETCD } from './etcd.ts'
import { LAKEFS } from './lakefs.ts'
import { POSTGRES } from './postgres.ts'
import {
  CannotStart,
  type AbsentServer,
  type RealServer,
  type ServerKind,
  type ServerRecipe,
} from './real-server.ts'
import { REDIS } from './redis.ts'

export const RECIPES: Readonly<Record<ServerKind, ServerRecipe>> = {
  postgres: POSTGRES,
  redis: REDIS,
  etcd: ETCD,
  conductor: CONDUCTOR,
  lakefs: LAKEFS,
}

const NAMED_MS = 10_000
const PAUSE_MS = 250
/** Fetching Conductor's jar and starting it, with something to spare. */
const HOOK_MS = 800_000

export interface Surroundings {
  readonly environment: NodeJS.ProcessEnv
  readonly dockerAnswers: () => Promise<boolean>
  /** How long a server named by the environment may take to answer. */
  readonly namedMs: number
  readonly startContainer: typeof startContainer
}

const MACHINE: Surroundings = {
  environment: process.env,
  namedMs: NAMED_MS,
  dockerAnswers,
  startContainer,
}

export async function openRealServer(
  recipe: ServerRecipe,
  surroundings: Surroundings = MACHINE,
): Promise<RealServer | AbsentServer> {
  const named = recipe.readEnvironment(surroundings.environment)
  if (named !== undefined) {
    await waitFor(recipe, named, surroundings.namedMs)
    const close = (): Promise<void> => Promise.resolve()
    return { kind: recipe.kind, origin: 'environment', ...named, directory: undefined, close }
  }
  const missing: string[] = [`${recipe.variable} is not set`]
  if (await surroundings.dockerAnswers()) {
    try {
      const started = await surroundings.startContainer(recipe.container)
      try {
        await waitFor(recipe, started, recipe.readyMs)
      } catch (error) {
        await started.close()
        throw error
      }
      return { kind: recipe.kind, origin: 'container', ...started }
    } catch (error) {
      missing.push(
        `container ${recipe.container.image}: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  } else missing.push('no Docker engine answers')
  try {
    return { kind: recipe.kind, origin: recipe.startsAs, ...(await recipe.start()) }
  } catch (error) {
    if (!(error instanceof CannotStart)) throw error
    missing.push(error.message)
  }
  return { kind: recipe.kind, reason: `${recipe.kind}: ${missing.join('; ')}` }
}

/**
 * One server for the tests of a file or a `describe` block: opened before them, closed after them.
 *
 * ```ts
 * const postgres = useRealServer('postgres')
 * test('PG-1 …', (context) => { const { url } = postgres(context) })
 * ```
 */
export function useRealServer(kind: ServerKind): (context: TestContext) => RealServer {
  let server: RealServer | AbsentServer | undefined
  beforeAll(async () => {
    server = await openRealServer(RECIPES[kind])
  }, HOOK_MS)
  afterAll(async () => {
    if (server !== undefined && 'close' in server) await server.close()
  })
  return (context) => presentOrSkip(server, context, process.env)
}

/** Gives the server, or leaves the test: skipped with the reason, failed with it where the machine claims to be CI. */
export function presentOrSkip(
  server: RealServer | AbsentServer | undefined,
  context: Pick<TestContext, 'skip'>,
  environment: NodeJS.ProcessEnv,
): RealServer {
  if (server === undefined) throw new Error('the server was not opened: call useRealServer outside the test')
  return 'close' in server ? server : leave(server.reason, context, environment)
}

/** Leaves a test that lacks a server: the only way to do so (HO-32). */
export function leave(
  reason: string,
  context: Pick<TestContext, 'skip'>,
  environment: NodeJS.ProcessEnv,
): never {
  if (environment.CI === 'true') throw new Error(`CI must have every real server. ${reason}`)
  return context.skip(reason)
}

async function waitFor(
  recipe: ServerRecipe,
  endpoint: Parameters<ServerRecipe['check']>[0],
  boundMs: number,
): Promise<void> {
  const bound = AbortSignal.timeout(boundMs)
  for (;;) {
    try {
      await recipe.check(endpoint, bound)
      return
    } catch (error) {
      if (bound.aborted) {
        const why = error instanceof Error ? error.message : String(error)
        throw new Error(`${recipe.kind} at ${hideLogin(endpoint.url)} does not answer: ${why}`, {
          cause: error,
        })
      }
      await wait(PAUSE_MS)
    }
  }
}

function hideLogin(url: string): string {
  return url.replace(/\/\/[^/@]*@/, '//')
}
