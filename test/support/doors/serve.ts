// The HTTP door on a real socket, over a world in memory.
import { silentLogger } from '../../../src/base/logger.ts'
import type { HttpDoor } from '../../../src/server/http/listen-http.ts'
import { serveHttp, type ServeHttpOptions } from '../../../src/server/http/serve.ts'
import { openDoorWorld, type DoorWorld, type GivenHost } from './world.ts'

export interface ServedWorld {
  readonly world: DoorWorld
  readonly door: HttpDoor
  /** An operator's. */
  readonly token: string
  close(): Promise<void>
}

export type ServedOptions = Partial<Omit<ServeHttpOptions, 'host'>> & GivenHost

export async function serveWorld(options: ServedOptions = {}): Promise<ServedWorld> {
  const world = openDoorWorld()
  try {
    const door = await serveHttp({
      tokens: world.tokens,
      logger: silentLogger,
      port: 0,
      ...options,
      host: { ...world.host, ...options.host },
    })
    const close = async (): Promise<void> => {
      await door.close()
      await world.close()
    }
    return { world, door, token: await world.tokenFor('operator'), close }
  } catch (error) {
    await world.close()
    throw error
  }
}
