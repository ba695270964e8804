// The second way to a real server: a container, when a Docker engine answers.
import { request } from 'node:http'
import type { StartupCheckStrategy, StartupStatus } from 'testcontainers'
import type { ContainerRecipe, StartedServer } from './real-server.ts'

type Dockerode = Parameters<StartupCheckStrategy['checkStartupState']>[0]

const PING_MS = 2_000
const START_MS = 180_000

/** Asks the engine itself: a `docker` program without an engine behind it is common. */
export function dockerAnswers(environment: NodeJS.ProcessEnv = process.env): Promise<boolean> {
  const host = environment.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  const target = host.startsWith('unix://')
    ? { socketPath: host.slice('unix://'.length) }
    : { host: new URL(host).hostname, port: new URL(host).port }
  return new Promise((resolve) => {
    const ping = request({ ...target, path: '/_ping', timeout: PING_MS }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    ping.on('timeout', () => ping.destroy(new Error('no answer in time')))
    ping.on('error', () => resolve(false))
    ping.end()
  })
}

export async function startContainer(recipe: ContainerRecipe): Promise<StartedServer> {
  // Loaded only here: it takes a second, and most machines have no engine.
  const { GenericContainer, StartupCheckStrategy } = await import('testcontainers')
  // The library's own readiness check runs a shell and net tools inside the container; not every image has them, and
  // the provider asks the server itself anyway.
  class IsRunning extends StartupCheckStrategy {
    override async checkStartupState(client: Dockerode, id: string): Promise<StartupStatus> {
      const { State: state } = await client.getContainer(id).inspect()
      return state.Running ? 'SUCCESS' : 'FAIL'
    }
  }
  const image = new GenericContainer(recipe.image)
    .withExposedPorts(recipe.port)
    .withEnvironment({ ...recipe.environment })
    .withWaitStrategy(new IsRunning())
    .withStartupTimeout(START_MS)
  const container = await (recipe.command ? image.withCommand([...recipe.command]) : image).start()
  return {
    ...recipe.endpointAt(container.getHost(), container.getMappedPort(recipe.port)),
    directory: undefined,
    close: async () => {
      await container.stop()
    },
  }
}
