// What can be said of the image and of the compose file without an engine: that they fit the package, the command and each
// other. Whether they build and run is for an engine to show; docs/guides/run-in-containers.md says how.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import picomatch from 'picomatch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { openProject } from './support/cli/command.ts'
import { PROJECT_ROOT, listFiles, readText } from './support/source-tree.ts'

interface Instruction {
  readonly name: string
  readonly text: string
}

interface Stage {
  readonly name: string
  readonly from: string
  readonly instructions: readonly Instruction[]
}

const stages = readStages(readText('Dockerfile'))
const stageOf = (name: string): Stage => {
  const found = stages.find((stage) => stage.name === name)
  if (found === undefined) throw new Error(`no stage ${name}`)
  return found
}
/** The last of a kind, looked for down to the stage that the others are built on. */
function lastOf(stage: Stage, name: string): string {
  const own = stage.instructions.filter((instruction) => instruction.name === name).at(-1)
  return own?.text ?? lastOf(stageOf(stage.from), name)
}
const words = (text: string): string[] => JSON.parse(text) as string[]

describe('the image', () => {
  test.each(['perago', 'orders-etl'])('CN-01 %s runs as a user by number that is not root', (name) => {
    expect(lastOf(stageOf(name), 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })

  test('CN-02 its command is one that the package has, with options that it knows', async () => {
    const project = await openProject()
    onTestFinished(() => project.close())
    const [command = '', module, ...options] = words(lastOf(stageOf('perago'), 'CMD'))
    expect([command, module]).toEqual(['start', '/app/tasks.ts'])
    const { stdout } = await project.run([command, '--help'])
    const flags = options.filter((word) => word.startsWith('--'))
    expect(flags.filter((flag) => !stdout.includes(`${flag} <`))).toEqual([])
    expect(words(lastOf(stageOf('perago'), 'ENTRYPOINT'))).toEqual(['perago'])
  })

  test('CN-03 the health check asks the port that the command serves, and says what it is told', async () => {
    const check = /CMD (\[.*\])$/s.exec(lastOf(stageOf('perago'), 'HEALTHCHECK'))?.[1] ?? '[]'
    const command = words(lastOf(stageOf('perago'), 'CMD'))
    const port = command[command.indexOf('--health-port') + 1] ?? '?'
    expect(check).toContain(`127.0.0.1:${port}/healthz`)
    let answer = 200
    const asked: string[] = []
    const server = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.writeHead(answer).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port: free } = server.address() as AddressInfo
    const [program = '', ...args] = words(check.replace(`:${port}/`, `:${free}/`))
    expect(program).toBe('node')
    const run = (): Promise<unknown> => promisify(execFile)(process.execPath, args)
    await run()
    expect(asked).toEqual(['/healthz'])
    answer = 503
    await expect(run()).rejects.toMatchObject({ code: 1 })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await expect(run()).rejects.toMatchObject({ code: 1 })
  })

  test('CN-04 what it copies is there and let through, and nothing else is sent to the engine', () => {
    const copied = stages.flatMap(({ instructions }) =>
      instructions
        .filter(({ name, text }) => name === 'COPY' && !text.includes('--from='))
        .flatMap(({ text }) => text.split(/\s+/).slice(0, -1)),
    )
    expect(copied.filter((path) => !existsSync(join(PROJECT_ROOT, path)))).toEqual([])
    const rules = readText('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(rules[0]).toBe('*')
    expect([...new Set(copied)].toSorted()).toEqual(
      rules
        .filter((rule) => rule.startsWith('!'))
        .map((rule) => rule.slice(1))
        .toSorted(),
    )
    const kept = picomatch(rules.slice(1).filter((rule) => !rule.startsWith('!')))
    expect(listFiles('src', (path) => path.endsWith('.test.ts')).filter((path) => !kept(path))).toEqual([])
  })
})

interface Service {
  readonly image?: string
  readonly build?: { readonly context: string; readonly target: string }
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly test?: readonly string[]; readonly disable?: boolean }
  readonly volumes?: readonly string[]
  readonly ports?: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly mem_limit?: string
  readonly pids_limit?: number
}

describe('the compose file', () => {
  const text = readText('docker-compose.yml')
  const composed = parse(text, { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>
    readonly volumes: Readonly<Record<string, unknown>>
  }
  const services = Object.entries(composed.services)
  const ours = services.filter(([, { build }]) => build !== undefined)

  test('CN-05 every service waits for ones that are there and can tell', () => {
    for (const [, { depends_on: waits = {} }] of services) {
      for (const [other, { condition }] of Object.entries(waits)) {
        expect(Object.keys(composed.services)).toContain(other)
        if (condition === 'service_healthy') expect(composed.services[other]?.healthcheck?.test).toBeDefined()
      }
    }
    const named = services.flatMap(([, { volumes = [] }]) => volumes.map((volume) => volume.split(':')[0]))
    expect(named.toSorted()).toEqual(Object.keys(composed.volumes).toSorted())
  })

  test('CN-06 what we make has a read-only file system and no rights, and a volume where it works', () => {
    expect(ours.map(([name]) => name).toSorted()).toEqual(['begin', 'worker'])
    for (const [, service] of ours) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
      expect(stages.map(({ name }) => name)).toContain(service.build?.target)
    }
    const command = words(lastOf(stageOf('orders-etl'), 'CMD'))
    const root = command[command.indexOf('--root') + 1] ?? '?'
    expect(composed.services['worker']?.volumes).toEqual([`work:${root}`])
    expect(lastOf(stageOf('orders-etl'), 'VOLUME')).toBe(root)
  })

  test('CN-07 ports are open on this machine only', () => {
    const ports = services.flatMap(([, { ports: own = [] }]) => own)
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
    expect(ports.length).toBeGreaterThan(0)
  })

  test('CN-09 what others make is named by exact version, and by digest where the file does not say otherwise', () => {
    const others = services.filter(([, { build }]) => build === undefined)
    const exact = /:(?:\d+\.\d+|RELEASE\.\d{4}-\d\d-\d\dT)[\w.-]*(?:@sha256:[0-9a-f]{64})?$/
    expect(others.filter(([, { image = '' }]) => !exact.test(image))).toEqual([])
    const undigested = others.filter(([, { image = '' }]) => !image.includes('@')).map(([name]) => name)
    const [, named = ''] = /Known for none: ([\w, ]+)\./.exec(text) ?? []
    expect(undigested.toSorted()).toEqual(named.split(', ').toSorted())
    const [, base = ''] = /^ARG NODE_TAG=(\S+)$/m.exec(readText('Dockerfile')) ?? []
    expect(base).toMatch(/^\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/)
  })

  test('CN-10 every service has a limit of memory and of processes', () => {
    for (const [, { mem_limit: memory = '', pids_limit: processes = 0 }] of services) {
      expect(memory).toMatch(/^[1-4]g$/)
      expect(processes).toBeGreaterThan(0)
      expect(processes).toBeLessThanOrEqual(1024)
    }
  })

  test('CN-11 every service drops all capabilities and can gain no privilege', () => {
    for (const [name, service] of services) {
      expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
      expect([name, service.cap_add]).toEqual([
        name,
        name === 'conductor' ? ['CHOWN', 'SETGID', 'SETUID'] : undefined,
      ])
    }
  })

  test('CN-12 every service but Conductor has a read-only file system, with /tmp in memory', () => {
    expect(services.filter(([, service]) => service.read_only !== true).map(([name]) => name)).toEqual([
      'conductor',
    ])
    for (const [, { tmpfs }] of services) expect(tmpfs).toContain('/tmp')
  })

  test('CN-13 no password has a default', () => {
    const variables = [...text.matchAll(/\$\{(\w+)([^}]*)\}/g)]
    const withDefault = variables.filter(([, , rest = '']) => !rest.startsWith(':?')).map(([, name]) => name)
    expect(new Set(withDefault)).toEqual(new Set(['DAY']))
    const secrets = services.flatMap(([, { environment = {} }]) =>
      Object.entries(environment).filter(([name]) =>
        /PASSWORD|SECRET|ACCESS_KEY_ID$|MC_HOST|CONNECTION_STRING/.test(name),
      ),
    )
    expect(secrets.length).toBeGreaterThan(5)
    const own = secrets.filter(
      ([name, value]) => !value.includes(':?') && name !== 'LAKEFS_BLOCKSTORE_S3_CREDENTIALS_ACCESS_KEY_ID',
    )
    expect(own).toEqual([])
  })

  test('CN-16 the image has labels that fit the package, and is built with all of its workspaces', () => {
    const { license, workspaces } = JSON.parse(readText('package.json')) as {
      readonly license: string
      readonly workspaces: readonly string[]
    }
    const dockerfile = readText('Dockerfile')
    expect(dockerfile).toContain(`org.opencontainers.image.licenses="${license}"`)
    for (const folder of workspaces)
      expect(dockerfile.split(`COPY ${folder}/package.json ${folder}/package.json\n`)).toHaveLength(3)
  })

  test('CN-14 the file with the passwords is neither committed nor sent to the engine', () => {
    expect(readText('.gitignore').split('\n')).toContain('.env')
    expect(readText('.dockerignore').split('\n')).not.toContain('!.env')
  })

  test('CN-15 no service reaches around its container', () => {
    for (const [, service] of services) {
      const keys = Object.keys(service)
      for (const key of ['privileged', 'network_mode', 'pid', 'ipc', 'userns_mode', 'devices'])
        expect(keys).not.toContain(key)
      for (const volume of service.volumes ?? []) expect(volume).toMatch(/^[a-z]+:\/[\w/]+$/)
    }
  })

  test('CN-08 the configuration takes the environment of the worker', async () => {
    const project = await openProject()
    onTestFinished(() => project.close())
    const environment = Object.fromEntries(
      Object.entries(composed.services['worker']?.environment ?? {}).map(([name, value]) => [
        name,
        value.replace(/\$\{(\w+):\?.*\}/, 'given-$1'),
      ]),
    )
    const { code, stdout, stderr } = await project.run(['config', '--json'], environment)
    expect([code, stderr]).toEqual([0, ''])
    for (const name of ['LAKEFS_ENDPOINT', 'LAKEFS_ACCESS_KEY_ID', 'CONDUCTOR_SERVER_URL'])
      expect(stdout).toContain(environment[name])
  })
})

/** Stages of a Dockerfile, with continued lines put together. */
function readStages(text: string): readonly Stage[] {
  const found: { name: string; from: string; instructions: Instruction[] }[] = []
  const lines = text.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '')
  for (const line of lines.split('\n')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? []
    const [, from = '', stage = ''] = name === 'FROM' ? (/^(\S+) AS (\S+)$/.exec(rest) ?? []) : []
    if (stage !== '') found.push({ name: stage, from, instructions: [] })
    else if (name !== '') found.at(-1)?.instructions.push({ name, text: rest })
  }
  return found
}
