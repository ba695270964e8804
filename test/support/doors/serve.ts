// The HTTP door on a real socket, over a world in memory.
import { silentLogger } from '../../../src/base/logger.ts'
import { openExecutionAccess } from '../../../src/runtime/execution-access.ts'
import { serveHttp, type HttpDoor, type ServeHttpOptions } from '../../../src/server/http/serve.ts'
import { openDoorWorld, type DoorWorld } from './world.ts'

export interface ServedWorld {
  readonly world: DoorWorld
  readonly door: HttpDoor
  /** An operator's. */
  readonly token: string
  close(): Promise<void>
}

export async function serveWorld(options: Partial<ServeHttpOptions> = {}): Promise<ServedWorld> {
  const world = openDoorWorld()
  try {
    const access = openExecutionAccess({ store: world.store, logger: silentLogger })
    const door = await serveHttp({
      access,
      tokens: world.tokens,
      webhooks: world.webhooks,
      examine: () => Promise.resolve([]),
      compilePattern: access.compilePattern,
      logger: silentLogger,
      port: 0,
      ...options,
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
