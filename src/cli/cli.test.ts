// The command as it is shipped: `npm test` builds dist/ first, and every test here starts dist/cli/main.js.
import { spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mounted } from '../../test/support/workspace/mounted.ts'
import { untilFiled } from '../../test/support/until-filed.ts'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

let directory: string
const running = new Set<ChildProcess>()
const listening = new Set<{ close: (done: () => void) => unknown }>()

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-cli-'))
})

afterEach(async () => {
  for (const child of running) child.kill('SIGKILL')
  await Promise.all([...listening].map((server) => new Promise<void>((done) => server.close(() => done()))))
  running.clear()
  listening.clear()
  await rm(directory, { recursive: true })
})

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Started {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Settles when standard output has its first line; fails when the process ends before. */
  readonly firstLine: Promise<string>
}

function start(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  account: { readonly uid?: number; readonly gid?: number } = {},
): Started {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: directory,
    // Nothing of the developer's own environment, or a LAKEFS_ENDPOINT in it would decide a test.
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...account,
  })
  running.add(child)
  let stdout = ''
  let stderr = ''
  const firstLine = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
      if (stdout.includes('\n')) resolve(stdout.slice(0, stdout.indexOf('\n')))
    })
    child.on('close', () => reject(new Error(`the command ended without a line: ${stderr}`)))
  })
  firstLine.catch(() => undefined)
  const ended = new Promise<Ended>((resolve) => {
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.on('close', (code) => {
      running.delete(child)
      resolve({ code, stdout, stderr })
    })
  })
  return { child, ended, firstLine }
}

function run(args: readonly string[], environment?: Readonly<Record<string, string>>): Promise<Ended> {
  return start(args, environment).ended
}

async function serve(answer: RequestListener): Promise<string> {
  const server: Server = createServer(answer)
  listening.add(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const credentials = { LAKEFS_ACCESS_KEY_ID: 'KEY', LAKEFS_SECRET_ACCESS_KEY: 'hunter2-hunter2' }

describe('every command', () => {
  test('CL-01 the version is that of the package', async () => {
    const { version } = JSON.parse(
      await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
    ) as { version: string }
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  test.each([
    [[]],
    [['lakefs']],
    [['check']],
    [['extract']],
    [['register']],
    [['run']],
    [['start']],
    [['ui']],
    [['lakefs', 'gc']],
    [['lakefs', 'fsck']],
    [['lakefs', 'credentials']],
    [['lakefs', 'env']],
    [['config']],
    [['doctor']],
    [['init']],
    [['completion']],
    [['help']],
  ])('CL-02 the help of %j shows an example and exits with 0', async (path) => {
    const { code, stdout, stderr } = await run([...path, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Usage: ${['perago', ...path].join(' ')}`)
    expect(stdout).toMatch(/Examples?:\n {2}\$ .*perago/)
  })

  test('CL-02 without arguments there is help', async () => {
    const { code, stdout } = await run([])
    expect(code).toBe(0)
    expect(stdout).toContain('Usage: perago')
  })

  test.each([
    [['lakefs', '--prot', '1'], "unknown option '--prot' (Did you mean --port?)"],
    [['lakefs', '--port', 'x'], "option '--port <port>' argument 'x' is invalid"],
    [['lakefs', '--port', '65536'], 'A port is a whole number from 0 to 65535'],
    [['lakefs', '--port'], "option '--port <port>' argument missing"],
    [['lakefs', '--log-level', 'loud'], "argument 'loud' is invalid"],
    [['lakefs', 'extra'], 'perago lakefs has no command "extra"'],
    [['lakefs', '--memory', '--data', 'x'], '--memory and --data exclude each other'],
    [['lakfs'], "unknown command 'lakfs' (Did you mean lakefs?)"],
    [['config', '--colour'], "unknown option '--colour'"],
  ])('CL-03 %j is refused in one line with code and next step', async (args, what) => {
    const { code, stdout, stderr } = await run(args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^perago: .* \[cli\/bad-usage\]\. .+\.\n$/)
    expect(stderr).toContain(what)
  })

  test('CL-04 with --json an error is one document on standard error', async () => {
    const { code, stdout, stderr } = await run(['config', '--json', '--colour'])
    expect([code, stdout]).toEqual([2, ''])
    expect(JSON.parse(stderr)).toEqual({
      error: {
        kind: 'invalid',
        code: 'cli/bad-usage',
        message: expect.stringContaining('--colour') as unknown,
        next: expect.any(String) as unknown,
      },
    })
  })

  test('CL-05 nothing written to a pipe is coloured', async () => {
    const { stdout } = await run(['--help'])
    const { stderr } = await run(['nonsense'])
    expect(stdout + stderr).not.toContain('\u001b')
  })
})

describe('config', () => {
  test('CL-20 every setting is shown with its value and origin, secrets as such', async () => {
    await writeFile(join(directory, 'perago.yaml'), 'log:\n  level: info\n')
    const { code, stdout, stderr } = await run(['config'], {
      ...credentials,
      LAKEFS_ENDPOINT: 'http://127.0.0.1:1',
    })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.replace(/ +/g, ' ').split('\n')).toEqual(
      expect.arrayContaining([
        'lakefs.endpoint http://127.0.0.1:1 LAKEFS_ENDPOINT',
        'lakefs.secretAccessKey [redacted] LAKEFS_SECRET_ACCESS_KEY',
        'lakefs.connections 64 default',
        'log.level info perago.yaml:2',
        'conductor.serverUrl unset',
      ]),
    )
    expect(stdout).not.toContain('hunter2')
  })

  test('CL-20 --json gives one document', async () => {
    const { code, stdout } = await run(['config', '--json', '--log-level', 'debug'], credentials)
    expect(code).toBe(0)
    const shown = JSON.parse(stdout) as { file: unknown; settings: { name: string }[] }
    expect(shown.file).toBeNull()
    expect(shown.settings).toContainEqual({
      name: 'log.level',
      value: 'debug',
      origin: { from: 'flag', name: '--log-level' },
    })
    expect(shown.settings).toContainEqual({ name: 'lakefs.endpoint', value: null, origin: { from: 'unset' } })
    expect(stdout).not.toContain('hunter2')
  })

  test('CL-21 a malformed configuration is refused with all its problems', async () => {
    await writeFile(join(directory, 'perago.yaml'), 'lakefs:\n  endpont: x\nlog: {level: loud}\n')
    const { code, stdout, stderr } = await run(['config'], {
      PERAGO_LOG_FORMT: 'json',
      LAKEFS_ACCESS_KEY_ID: 'K',
    })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr.split('\n')).toEqual([
      'perago: read the configuration: 3 problems [runtime/bad-configuration]. Correct them; docs/reference/configuration.md describes every setting.',
      '  - perago.yaml:2:3: there is no setting "lakefs.endpont"; did you mean "lakefs.endpoint"?',
      '  - PERAGO_LOG_FORMT: no setting is read from this variable; did you mean "PERAGO_LOG_FORMAT"?',
      '  - perago.yaml:3: expected one of trace, debug, info, warn, error, silent, not "loud"',
      '',
    ])
  })

  test('CL-21 a configuration file that is named but absent is refused', async () => {
    const { code, stderr } = await run(['config', '--config', 'none.yaml', '--json'])
    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({
      error: {
        code: 'runtime/bad-configuration',
        details: { problems: ['none.yaml: there is no such file'] },
      },
    })
  })
})

describe('lakefs', () => {
  const serving = (...args: readonly string[]): Started => start(['lakefs', '--port', '0', ...args])

  test('CL-10 it prints one line when it listens, serves, and ends with 0 on SIGTERM', async () => {
    const { child, firstLine, ended } = serving()
    const [, address = ''] = /^ready (http:\/\/127\.0\.0\.1:\d+)$/.exec(await firstLine) ?? []
    expect((await fetch(`${address}/api/v1/healthcheck`)).status).toBe(204)
    child.kill('SIGTERM')
    const { code, stdout } = await ended
    expect([code, stdout]).toEqual([0, `ready ${address}\n`])
    await expect(fetch(`${address}/api/v1/healthcheck`)).rejects.toThrow()
  })

  test('CL-10 SIGINT ends it with 0 as well', async () => {
    const { child, firstLine, ended } = serving('--memory')
    await firstLine
    child.kill('SIGINT')
    expect((await ended).code).toBe(0)
  })

  test('CL-09 a second signal ends it at once, whatever is under way', async () => {
    const { child, firstLine, ended } = serving('--memory', '--access-key', 'KEY', '--secret-key', 'hunter2')
    const [, address = ''] = /^ready (.*)$/.exec(await firstLine) ?? []
    // A request that never becomes whole keeps an orderly end waiting.
    const socket = connect(Number(new URL(address).port), '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('POST /api/v1/repositories HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\n')
    socket.write(
      `authorization: Basic ${Buffer.from('KEY:hunter2').toString('base64')}\r\ncontent-length: 99\r\n\r\n{`,
    )
    await fetch(`${address}/api/v1/healthcheck`, { headers: { connection: 'close' } })
    child.kill('SIGTERM')
    while (
      await fetch(`${address}/api/v1/healthcheck`).then(
        () => true,
        () => false,
      )
    )
      continue
    expect(child.exitCode).toBeNull()
    child.kill('SIGTERM')
    expect((await ended).code).toBe(143)
    socket.destroy()
  })

  test('CL-11 generated credentials are shown once, kept with mode 0600, and good on the next start', async () => {
    const first = serving()
    await first.firstLine
    first.child.kill('SIGTERM')
    const { stderr } = await first.ended
    const [, key = '', secret = ''] = /access key id +(\S+)\n +secret access key +(\S+)\n/.exec(stderr) ?? []
    expect(key).not.toBe('')
    const file = join(directory, '.perago/lakefs/credentials.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)

    const second = serving()
    const [, address = ''] = /^ready (.*)$/.exec(await second.firstLine) ?? []
    const authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}`
    expect((await fetch(`${address}/api/v1/user`, { headers: { authorization } })).status).toBe(200)
    second.child.kill('SIGTERM')
    const { stdout: secondOut, stderr: secondError } = await second.ended
    expect(secondOut + secondError).not.toContain(secret)

    expect(JSON.parse((await run(['lakefs', 'credentials', '--json'])).stdout)).toEqual({
      accessKeyId: key,
      secretAccessKey: secret,
    })
    expect((await run(['lakefs', 'credentials'])).stdout).toContain(secret)
    const { stdout: variables } = await run(['lakefs', 'env', '--endpoint', address])
    expect(variables).toContain(`export LAKEFS_ENDPOINT='${address}'\n`)
    expect(variables).toContain(`export LAKEFS_SECRET_ACCESS_KEY='${secret}'\n`)
    expect(variables).toContain(`export LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY='${secret}'\n`)
  })

  test.each([
    ['flags', ['--access-key', 'MYKEY', '--secret-key', 'my-own-secret'], {}],
    [
      'variables',
      [],
      { PERAGO_EMBEDDED_ACCESS_KEY_ID: 'MYKEY', PERAGO_EMBEDDED_SECRET_ACCESS_KEY: 'my-own-secret' },
    ],
  ])('CL-12 credentials given by %s are accepted and never shown', async (_name, args, environment) => {
    const { child, firstLine, ended } = start(['lakefs', '--port', '0', '--memory', ...args], environment)
    const [, address = ''] = /^ready (.*)$/.exec(await firstLine) ?? []
    const authorization = `Basic ${Buffer.from('MYKEY:my-own-secret').toString('base64')}`
    expect((await fetch(`${address}/api/v1/user`, { headers: { authorization } })).status).toBe(200)
    child.kill('SIGTERM')
    const { stdout, stderr } = await ended
    expect(stdout + stderr).not.toContain('my-own-secret')
  })

  test('CL-135 a secret given as a flag is warned about, with the variable to use; one in the variable is not', async () => {
    const keys = ['--memory', '--access-key', 'MYKEY']
    const flagged = serving(...keys, '--secret-key', 'my-own-secret')
    const quiet = start(['lakefs', '--port', '0', ...keys], {
      PERAGO_EMBEDDED_SECRET_ACCESS_KEY: 'my-own-secret',
    })
    for (const [server, warning] of [
      [flagged, /^warning: --secret-key shows .*: set PERAGO_EMBEDDED_SECRET_ACCESS_KEY instead\npage .*\n$/],
      [quiet, /^page .*\n$/],
    ] as const) {
      await server.firstLine
      server.child.kill('SIGTERM')
      expect((await server.ended).stderr).toMatch(warning)
    }
  })

  test('CL-136 a secret of fewer than 16 characters is refused where others can reach the server', async () => {
    const refused = await run(['lakefs', '--memory', '--port', '0', '--host', '0.0.0.0'], {
      PERAGO_EMBEDDED_ACCESS_KEY_ID: 'MYKEY',
      PERAGO_EMBEDDED_SECRET_ACCESS_KEY: 'fifteen-letters',
    })
    expect([refused.code, refused.stdout]).toEqual([2, ''])
    expect(refused.stderr).toContain('[embedded/short-secret]')
    expect(refused.stderr).not.toContain('fifteen-letters')
  })

  test('CL-22 repositories that are asked for are made, and those that are there are left as they are', async () => {
    const keys = ['--access-key', 'MYKEY', '--secret-key', 'my-own-secret']
    const authorization = `Basic ${Buffer.from('MYKEY:my-own-secret').toString('base64')}`
    const headOf = async (address: string, repository: string): Promise<unknown> => {
      const url = `${address}/api/v1/repositories/${repository}/branches/main`
      const answer = (await (await fetch(url, { headers: { authorization } })).json()) as {
        commit_id: string
      }
      return answer.commit_id
    }
    const heads: unknown[] = []
    for (const more of [[], ['--repository', 'tides']]) {
      const { child, firstLine, ended } = serving(...keys, '--repository', 'weather', ...more)
      const [, address = ''] = /^ready (.*)$/.exec(await firstLine) ?? []
      heads.push(await headOf(address, 'weather'))
      if (more.length > 0) expect(await headOf(address, 'tides')).toMatch(/^[0-9a-f]{64}$/)
      child.kill('SIGTERM')
      await ended
    }
    expect(heads[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(heads[1]).toBe(heads[0])
  })

  test('CL-22 a name that is none is refused in one line', async () => {
    const { code, stdout, stderr } = await run([
      'lakefs',
      '--memory',
      '--port',
      '0',
      '--repository',
      'My Lake',
    ])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^perago: .*"My Lake".* \[embedded\/bad-repository\]\. .+\.\n$/)
  })

  test('CL-12 half a pair is refused', async () => {
    const { code, stderr } = await run(['lakefs', '--memory', '--port', '0', '--access-key', 'K'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: .*\[embedded\/half-credentials\].*\n$/)
  })

  test('CL-13 a port in use is refused in one line', async () => {
    const address = await serve((_request, response) => response.end())
    const { code, stdout, stderr } = await run(['lakefs', '--memory', '--port', new URL(address).port])
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toMatch(/^perago: listen on 127\.0\.0\.1:\d+: .* \[embedded\/port-in-use\]\. .+\.\n$/)
  })

  test('CL-13 an address that is not of this machine is refused in one line', async () => {
    const { code, stderr } = await run(['lakefs', '--memory', '--port', '0', '--host', '192.0.2.1'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: listen on 192\.0\.2\.1:0: .* \[embedded\/cannot-listen\]\. .+\.\n$/)
  })

  test('CL-14 a foreign directory is left as it is, and refused', async () => {
    await mkdir(join(directory, 'foreign'))
    await writeFile(join(directory, 'foreign/thesis.txt'), 'years of work')
    const { code, stdout, stderr } = await run(['lakefs', '--port', '0', '--data', 'foreign'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^perago: .*foreign.* \[embedded\/[a-z-]+\]\. .+\.\n$/)
    expect(await readFile(join(directory, 'foreign/thesis.txt'), 'utf8')).toBe('years of work')
  })

  test('CL-14 a directory that is a file is refused', async () => {
    await writeFile(join(directory, 'file'), '')
    const { code, stderr } = await run(['lakefs', '--port', '0', '--data', 'file'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: .*file.* \[embedded\/[a-z-]+\]\. .+\.\n$/)
  })

  test('CL-14 a directory that may not be written is refused', async () => {
    await chmod(directory, 0o755)
    await mkdir(join(directory, 'closed'))
    await chmod(join(directory, 'closed'), 0o555)
    // Modes do not bind root, so as root the command is run as nobody.
    const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const { code, stdout, stderr } = await start(
      ['lakefs', '--port', '0', '--data', 'closed/lake'],
      {},
      account,
    ).ended
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^perago: .*closed.* \[embedded\/[a-z-]+\]\. .+\.\n$/)
  })

  test('CL-15 a second server on one directory is refused, and the first goes on', async () => {
    const first = serving()
    const [, address = ''] = /^ready (.*)$/.exec(await first.firstLine) ?? []
    const { code, stdout, stderr } = await run(['lakefs', '--port', '0'])
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toMatch(/^perago: .* \[embedded\/data-dir-in-use\]\. .+\.\n$/)
    expect((await fetch(`${address}/api/v1/healthcheck`)).status).toBe(204)
    first.child.kill('SIGTERM')
    expect((await first.ended).code).toBe(0)
  })

  test('CL-16 an address beyond loopback is warned about', async () => {
    const { child, firstLine, ended } = serving('--memory', '--host', '0.0.0.0')
    expect(await firstLine).toMatch(/^ready /)
    child.kill('SIGTERM')
    expect((await ended).stderr).toMatch(/^warning: .*loopback/m)
  })

  test('CL-29 env names the address at which the server of the data listens, and none when there is none', async () => {
    const endpointOf = async (): Promise<string | undefined> =>
      /^export LAKEFS_ENDPOINT='(.*)'$/m.exec((await run(['lakefs', 'env'])).stdout)?.[1]
    const first = serving()
    const [, address = ''] = /^ready (.*)$/.exec(await first.firstLine) ?? []
    expect(await endpointOf()).toBe(address)
    first.child.kill('SIGTERM')
    await first.ended
    const stopped = await run(['lakefs', 'env'])
    expect([stopped.code, stopped.stdout]).toEqual([2, ''])
    expect(stopped.stderr).toMatch(/^perago: .* \[cli\/no-server\]\. .+\.\n$/)

    const killed = serving('--host', '0.0.0.0')
    const [, everywhere = ''] = /^ready (.*)$/.exec(await killed.firstLine) ?? []
    expect(await endpointOf()).toBe(everywhere.replace('0.0.0.0', '127.0.0.1'))
    killed.child.kill('SIGKILL')
    await killed.ended
    expect((await run(['lakefs', 'env'])).code).toBe(2)
  })

  test('CL-17 credentials that are not kept cannot be shown', async () => {
    for (const command of ['credentials', 'env']) {
      const { code, stdout, stderr } = await run(['lakefs', command, '--data', 'nowhere'])
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toMatch(/^perago: .*nowhere.* \[cli\/no-credentials\]\. .+\.\n$/)
    }
  })

  test('CL-19 gc removes what nothing refers to, once, and only when no server is at work', async () => {
    const server = serving('--access-key', 'KEY', '--secret-key', 'hunter2-hunter2')
    const [, address = ''] = /^ready (.*)$/.exec(await server.firstLine) ?? []
    const api = async (
      method: string,
      path: string,
      body: string,
      type = 'application/json',
    ): Promise<void> => {
      const authorization = `Basic ${Buffer.from('KEY:hunter2-hunter2').toString('base64')}`
      const answer = await fetch(`${address}/api/v1/repositories${path}`, {
        method,
        body,
        headers: { authorization, 'content-type': type },
      })
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    }
    await api('POST', '', '{"name":"lake","storage_namespace":"local://lake"}')
    for (const content of ['overwritten', 'kept']) {
      await api('POST', '/lake/branches/main/objects?path=a', content, 'application/octet-stream')
    }

    const refused = await run(['lakefs', 'gc'])
    expect(refused.code).toBe(3)
    expect(refused.stderr).toMatch(/\[embedded\/data-dir-in-use\]/)
    server.child.kill('SIGTERM')
    await server.ended

    const removed = async (...args: readonly string[]): Promise<unknown> => {
      const { code, stdout } = await run(['lakefs', 'gc', '--json', ...args])
      expect(code).toBe(0)
      return JSON.parse(stdout)
    }
    expect(await removed('--dry-run')).toMatchObject({ dryRun: true, objectsRemoved: 1, objectsKept: 1 })
    expect(await removed()).toMatchObject({ dryRun: false, objectsRemoved: 1, objectBytesRemoved: 11 })
    expect(await removed()).toMatchObject({ objectsRemoved: 0, objectsKept: 1 })
    expect((await run(['lakefs', 'gc'])).stdout).toMatch(/^objects +0 removed \(0 B\) +1 kept$/m)
  })

  test('ES-117 fsck names damage beside a running server and without it, and ends with exit code 3', async () => {
    const server = serving('--access-key', 'KEY', '--secret-key', 'hunter2-hunter2')
    const [, address = ''] = /^ready (.*)$/.exec(await server.firstLine) ?? []
    const authorization = `Basic ${Buffer.from('KEY:hunter2-hunter2').toString('base64')}`
    const post = async (path: string, body: string, type = 'application/json'): Promise<void> => {
      const headers = { authorization, 'content-type': type }
      const url = `${address}/api/v1/repositories${path}`
      expect((await fetch(url, { method: 'POST', body, headers })).status).toBe(201)
    }
    await post('', '{"name":"lake","storage_namespace":"local://lake"}')
    await post('/lake/branches/main/objects?path=dir/a', 'whole', 'application/octet-stream')
    await post('/lake/branches/main/commits', '{"message":"one"}')
    const whole = await run(['lakefs', 'fsck'])
    expect([whole.code, whole.stdout]).toEqual([0, expect.stringMatching(/^damages +none$/m)])

    await untilFiled(join(directory, '.perago', 'lakefs'))
    const file = createHash('sha256').update('whole').digest('hex')
    await writeFile(join(directory, '.perago', 'lakefs', 'objects', file), 'Whole')
    const checkWith = async (isServed: boolean): Promise<void> => {
      const found = await run(['lakefs', 'fsck', '--json'])
      expect(found.code).toBe(3)
      expect(JSON.parse(found.stdout)).toMatchObject({
        isServed,
        damages: [{ kind: 'object', repository: 'lake', branch: 'main', path: 'dir/a' }],
      })
      expect(found.stderr).toContain('cli/data-damaged')
    }
    await checkWith(true)
    server.child.kill('SIGTERM')
    await server.ended
    await checkWith(false)
    const shown = await run(['lakefs', 'fsck'])
    expect(shown.stdout).toMatch(/^lake\/main commit [0-9a-f]{12} "dir\/a": the stored bytes are damaged$/m)
    expect(shown.stdout).toMatch(/^ {2}Upload the object again/m)
  })

  test('CL-19 gc makes no directory where there is none', async () => {
    const { code, stderr } = await run(['lakefs', 'gc', '--data', 'nowhere'])
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: .*nowhere.* \[embedded\/no-data-dir\]\. .+\.\n$/)
    await expect(stat(join(directory, 'nowhere'))).rejects.toThrow('ENOENT')
  })

  test('CL-18 the data directory may be named before the inner command', async () => {
    const { stderr } = await run(['lakefs', '--data', 'elsewhere', 'credentials'])
    expect(stderr).toContain('elsewhere')
  })
})

describe('doctor', () => {
  test('CL-30 it says what the configured lakeFS is and can do', async () => {
    const server = start(['lakefs', '--port', '0', '--memory'], {
      PERAGO_EMBEDDED_ACCESS_KEY_ID: 'KEY',
      PERAGO_EMBEDDED_SECRET_ACCESS_KEY: 'hunter2-hunter2',
    })
    const [, address = ''] = /^ready (.*)$/.exec(await server.firstLine) ?? []
    const environment = { ...credentials, LAKEFS_ENDPOINT: address }
    const { code, stdout, stderr } = await run(['doctor'], environment)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^credentials +accepted$/m)
    expect(stdout).toMatch(/^branch moves +soft/m)
    expect(stdout).toMatch(/^list repositories +allowed$/m)
    const json = await run(['doctor', '--json'], environment)
    expect(JSON.parse(json.stdout)).toMatchObject({
      lakefs: { endpoint: `${address}/api/v1`, credentialsAccepted: true, strengths: { moveBranch: 'soft' } },
    })

    const wrong = await run(['doctor'], { ...environment, LAKEFS_SECRET_ACCESS_KEY: 'not-the-secret' })
    expect(wrong.code).toBe(2)
    expect(wrong.stdout).toMatch(/^lakeFS +problem: .*401.* \[lakefs\/[a-z-]+\]\. .+\.$/m)
    expect(wrong.stderr).toMatch(/^perago: .*401.* \[lakefs\/[a-z-]+\]\. .+\.\n$/)
    expect(wrong.stdout + wrong.stderr).not.toContain('not-the-secret')
    server.child.kill('SIGTERM')
    await server.ended
  })

  test('WS-204 it says whether the times of files in the root are trusted, and what follows', async (context) => {
    const root = join(await mounted('tmpfs', context), 'not', 'made', 'yet')
    const here = await run(['doctor', '--json'], credentials)
    const { stdout } = await run(['doctor', '--root', root], credentials)
    expect(stdout).toMatch(/^file system +tmpfs$/m)
    expect(stdout).toMatch(/^file times +not trusted: every file is read .* no directory is kept/m)
    const json = await run(['doctor', '--root', root, '--json'], credentials)
    expect(JSON.parse(json.stdout)).toMatchObject({
      root: { directory: root, fileSystem: 'tmpfs', areFileTimesTrusted: false },
    })
    expect(JSON.parse(here.stdout)).toMatchObject({ root: { areFileTimesTrusted: true } })
  })

  test('CL-31 without an endpoint or credentials it says what to set', async () => {
    for (const environment of [credentials, { LAKEFS_ENDPOINT: 'http://127.0.0.1:1' }]) {
      const { code, stderr } = await run(['doctor'], environment)
      expect(code).toBe(2)
      expect(stderr).toMatch(/^perago: connect to lakeFS: .* \[runtime\/no-lakefs\]\. .+\.\n$/)
    }
  })

  test('CL-32 a server that is not lakeFS is recognised', async () => {
    const page = await serve((_request, response) => response.end('<html>It works!</html>'))
    const { code, stderr } = await run(['doctor'], { ...credentials, LAKEFS_ENDPOINT: page })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: .* \[lakefs\/not-lakefs\]\. .+\.\n$/)
  })

  test('CL-32 a server that does not speak HTTP is recognised', async () => {
    // Reading what the client says is what lets the socket close.
    const server = createTcpServer((socket) => socket.resume().end('220 mail.example ESMTP\r\n'))
    listening.add(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const { code, stderr } = await run(['doctor'], {
      ...credentials,
      LAKEFS_ENDPOINT: `http://127.0.0.1:${port}`,
    })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: .* \[lakefs\/not-lakefs\]\. .+\.\n$/)
  })

  test('CL-33 a lakeFS that is too old for an operation is recognised', async () => {
    const old = await serve((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"message":"invalid API endpoint"}\n')
    })
    const { code, stderr } = await run(['doctor'], { ...credentials, LAKEFS_ENDPOINT: old })
    expect(code).toBe(2)
    expect(stderr).toMatch(/^perago: .* \[lakefs\/server-too-old\]\. .+\.\n$/)
  })

  test('CL-34 a server that is not there is unavailable', async () => {
    // Taken and given back: nobody listens there now.
    const address = await serve(() => undefined)
    await Promise.all([...listening].map((server) => new Promise<void>((done) => server.close(() => done()))))
    listening.clear()
    const { code, stderr } = await run(['doctor'], { ...credentials, LAKEFS_ENDPOINT: address })
    expect(code).toBe(4)
    expect(stderr).toMatch(/^perago: .* \[lakefs\/[a-z-]+\]\. .+\.\n$/m)
  })
})
