/** What a test is given of a real server, and what a provider of one kind must be able to do. */

export const SERVER_KINDS = ['postgres', 'redis', 'etcd', 'conductor', 'lakefs'] as const
export type ServerKind = (typeof SERVER_KINDS)[number]

/** Where a server came from, in the order in which the provider tries. */
export type ServerOrigin = 'environment' | 'container' | 'native' | 'embedded'

export interface Endpoint {
  /** Everything a client needs: scheme, host, port, and user and password where the kind has them. */
  readonly url: string
  /** Further facts of this kind, such as lakeFS' key pair and storage namespace. */
  readonly facts: Readonly<Record<string, string>>
}

export interface RealServer extends Endpoint {
  readonly kind: ServerKind
  readonly origin: ServerOrigin
  /** Its data directory, when it runs in one that we made. */
  readonly directory: string | undefined
  /** Stops what we started and removes what it wrote; what the environment named is left alone. */
  readonly close: () => Promise<void>
}

/** Why there is no server of a kind: what was tried, and what was missing. */
export interface AbsentServer {
  readonly kind: ServerKind
  readonly reason: string
}

export interface StartedServer extends Endpoint {
  readonly directory: string | undefined
  readonly close: () => Promise<void>
}

/** Thrown by a start that lacks something on this machine, so that the next way is tried. */
export class CannotStart extends Error {}

export interface ContainerRecipe {
  readonly image: string
  readonly port: number
  readonly environment: Readonly<Record<string, string>>
  readonly command?: readonly string[]
  readonly endpointAt: (host: string, port: number) => Endpoint
}

export interface ServerRecipe {
  readonly kind: ServerKind
  /** The environment variable that names a server of this kind. */
  readonly variable: string
  readonly readEnvironment: (environment: NodeJS.ProcessEnv) => Endpoint | undefined
  /** Resolves when the server at the endpoint answers in its own protocol, rejects otherwise. */
  readonly check: (endpoint: Endpoint, signal: AbortSignal) => Promise<void>
  readonly container: ContainerRecipe
  /** The last way: on this machine, with nothing but its own programs. Throws `CannotStart` where they are missing. */
  readonly start: () => Promise<StartedServer>
  readonly startsAs: 'native' | 'embedded'
  readonly readyMs: number
}
