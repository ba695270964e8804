import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { showOrigin } from '../../base/configuration.ts'
import { InvalidError } from '../../base/errors.ts'
import { CONFIGURATION_FILE_MAX_BYTES } from '../limits.ts'
import { REDACTED } from '../../base/redaction.ts'
import { loadConfiguration, type LoadConfigurationRequest, type SettingName } from './configuration.ts'

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'perago-configuration-'))
})

afterEach(async () => {
  await rm(directory, { recursive: true })
})

const write = (name: string, text: string | Uint8Array): Promise<void> =>
  writeFile(join(directory, name), text)

const load = (request: Partial<LoadConfigurationRequest> = {}): ReturnType<typeof loadConfiguration> =>
  loadConfiguration({ directory, environment: {}, ...request })

async function problemsOf(request: Partial<LoadConfigurationRequest> = {}): Promise<readonly string[]> {
  const error: unknown = await load(request).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof InvalidError)) throw new Error('the configuration was accepted', { cause: error })
  expect(error.code).toBe('runtime/bad-configuration')
  return error.details.problems as readonly string[]
}

const whole = `
lakefs:
  endpoint: http://from-file:8000/api/v1
  accessKeyId: KEY
  secretAccessKey: from-file-secret
  connections: 4
log:
  level: info
`

test('BA-70 without file and variables there are defaults, and they say so', async () => {
  const { configuration, settings, path } = await load()
  expect(configuration).toEqual({
    lakefs: { endpoint: undefined, credentials: undefined, connections: 64, fence: 'preferred' },
    ledger: { onRetry: 'replace', keys: undefined },
    results: { secrets: 'refuse' },
    conductor: { serverUrl: undefined, auth: undefined },
    log: { level: 'warn', format: 'auto' },
  })
  expect(path).toBeUndefined()
  expect(showOrigin(settings['log.level'].origin)).toBe('default')
  expect(showOrigin(settings['lakefs.endpoint'].origin)).toBe('unset')
})

test('BA-71 flags win over variables, variables over the file, the file over defaults', async () => {
  await write('perago.yaml', whole)
  const { configuration, settings } = await load({
    environment: {
      LAKEFS_ENDPOINT: 'http://from-lakefs-variable',
      PERAGO_LAKEFS_ENDPOINT: 'http://from-perago-variable',
      LAKEFS_ACCESS_KEY_ID: 'OTHER',
      PERAGO_LOG_LEVEL: 'error',
    },
    flags: { 'log.level': { flag: '--log-level', value: 'debug' } },
  })
  expect(configuration.lakefs).toEqual({
    endpoint: 'http://from-perago-variable',
    credentials: { accessKeyId: 'OTHER', secretAccessKey: 'from-file-secret' },
    connections: 4,
    fence: 'preferred',
  })
  const origins = Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, showOrigin(setting.origin)]),
  ) as Record<SettingName, string>
  expect(origins).toMatchObject({
    'lakefs.endpoint': 'PERAGO_LAKEFS_ENDPOINT',
    'lakefs.accessKeyId': 'LAKEFS_ACCESS_KEY_ID',
    'lakefs.secretAccessKey': 'perago.yaml:5',
    'lakefs.connections': 'perago.yaml:6',
    'log.level': '--log-level',
    'log.format': 'default',
    'conductor.serverUrl': 'unset',
  })
  expect(configuration.log.level).toBe('debug')
})

test.each([
  ['JSON', 'perago.json', '{\n\t"lakefs": {"endpoint": "http://h/"},\n\t"log": {"level": "info"}\n}'],
  [
    'YAML with the other ending',
    'perago.yml',
    'lakefs: {endpoint: http://h}\nlog:\n  level: info\n  format:\n',
  ],
  [
    'a byte order mark',
    'perago.yaml',
    '\ufefflakefs: {endpoint: http://h}\nlog: {level: info}\nconductor:\n',
  ],
])('BA-72 the file may be %s', async (_name, path, text) => {
  await write(path, text)
  const { configuration } = await load()
  expect(configuration.lakefs.endpoint).toBe('http://h')
  expect(configuration.log).toEqual({ level: 'info', format: 'auto' })
})

test('BA-72 a file can be named by flag or variable, and then no other is looked at', async () => {
  await write('perago.yaml', 'nonsense: 1')
  await write('mine.yaml', 'log: {level: error}')
  await write('yours.yaml', 'log: {level: debug}')
  expect((await load({ environment: { PERAGO_CONFIG: 'mine.yaml' } })).configuration.log.level).toBe('error')
  const both = await load({ environment: { PERAGO_CONFIG: 'mine.yaml' }, path: 'yours.yaml' })
  expect(both.configuration.log.level).toBe('debug')
  expect(both.path).toBe('yours.yaml')
})

test('BA-73 every problem is reported at once, each with its place', async () => {
  await write(
    'perago.yaml',
    `lakefs:
  endpont: http://h
  connections: many
  secretAccessKey: [1]
log:
  level: loud
  format: {a: 1}
colour: red
conductor: here
`,
  )
  const problems = await problemsOf({
    environment: {
      LAKEFS_ENDPOINT: 'ftp://h',
      PERAGO_LOG_LEVL: 'info',
      CONDUCTOR_SERVER_URL: 'http://user:pass-word@h',
      PERAGO_TEST_SOMETHING: 'is for others',
      PERAGO_CONFIG: '',
    },
  })
  expect(problems).toEqual([
    'perago.yaml:2:3: there is no setting "lakefs.endpont"; did you mean "lakefs.endpoint"?',
    'perago.yaml:7:3: "log.format" is one value, not a section',
    'perago.yaml:8:1: there is no setting "colour"',
    'perago.yaml:9:12: "conductor" must hold named settings',
    'PERAGO_LOG_LEVL: no setting is read from this variable; did you mean "PERAGO_LOG_LEVEL"?',
    'LAKEFS_ENDPOINT: expected an address such as http://127.0.0.1:8000, not "ftp://h"',
    'perago.yaml:4: expected text (put quotes around a number)',
    'perago.yaml:3: expected a whole number from 1 to 1024, not "many"',
    'CONDUCTOR_SERVER_URL: an address must not contain credentials; they have settings of their own',
    'perago.yaml:6: expected one of trace, debug, info, warn, error, silent, not "loud"',
  ])
})

test.each([
  ['broken YAML', 'lakefs: [\n', /^perago\.yaml:2:1: /],
  ['a key twice', 'log: {level: info}\nlog: {level: warn}\n', /^perago\.yaml:2:1: .*unique/],
  ['an alias', 'log: &l {level: info}\nlakefs: *l\n', /^perago\.yaml:2:9: .*alias/],
  ['no settings but a word', 'hello', /^perago\.yaml:1:1: the file must hold named settings$/],
  ['a list', '- a\n', /^perago\.yaml:1:1: the file must hold named settings$/],
  ['bytes that are no text', Buffer.from([0x6c, 0xff, 0xfe]), /^perago\.yaml: it is not UTF-8 text$/],
  [
    'far too much',
    'a'.repeat(CONFIGURATION_FILE_MAX_BYTES + 1),
    /^perago\.yaml: it has more than 1048576 bytes$/,
  ],
])('BA-74 %s in the file is named with its place', async (_name, text, expected) => {
  await write('perago.yaml', text)
  expect(await problemsOf()).toEqual([expect.stringMatching(expected)])
})

test('BA-74 a named file that is not there, a directory, and two files at once are problems', async () => {
  expect(await problemsOf({ path: 'none.yaml' })).toEqual(['none.yaml: there is no such file'])
  expect(await problemsOf({ path: '.' })).toEqual(['.: it is a directory'])
  await write('perago.yaml', '')
  await write('perago.json', '{}')
  expect(await problemsOf()).toEqual(['perago.json: perago.yaml exists as well; remove one of them'])
})

test('BA-75 a secret can stand in a file of its own, without its last line feed', async () => {
  await write('perago.yaml', 'lakefs:\n  accessKeyId: KEY\n  secretAccessKeyFile: ./secret\n')
  await write('secret', 'from the file \n')
  const { configuration, settings } = await load()
  expect(configuration.lakefs.credentials?.secretAccessKey).toBe('from the file ')
  expect(showOrigin(settings['lakefs.secretAccessKey'].origin)).toBe('perago.yaml:3')

  const byVariable = await load({ environment: { LAKEFS_SECRET_ACCESS_KEY_FILE: join(directory, 'secret') } })
  expect(showOrigin(byVariable.settings['lakefs.secretAccessKey'].origin)).toBe(
    'LAKEFS_SECRET_ACCESS_KEY_FILE',
  )
})

test('BA-75 a secret given twice in one place, or in a file that is not there, is a problem', async () => {
  await write(
    'perago.yaml',
    'lakefs:\n  accessKeyId: K\n  secretAccessKey: abc\n  secretAccessKeyFile: ./none\n',
  )
  expect(await problemsOf()).toEqual(['perago.yaml:4: the same secret is given by perago.yaml:3; keep one'])
  expect(await problemsOf({ environment: { PERAGO_CONDUCTOR_AUTH_SECRET_FILE: 'none' } })).toContain(
    `PERAGO_CONDUCTOR_AUTH_SECRET_FILE: ${join(directory, 'none')}: there is no such file`,
  )
})

test('BA-76 half a pair of credentials is a problem', async () => {
  expect(
    await problemsOf({ environment: { LAKEFS_ACCESS_KEY_ID: 'KEY', CONDUCTOR_AUTH_SECRET: 'abc' } }),
  ).toEqual([
    'lakefs.secretAccessKey: missing, though lakefs.accessKeyId is set',
    'conductor.authKey: missing, though conductor.authSecret is set',
  ])
})

test('BA-77 no problem repeats a secret, and the redactor knows every one', async () => {
  const secret = 'hunter2-hunter2'
  const problems = await problemsOf({
    environment: {
      LAKEFS_SECRET_ACCESS_KEY: secret,
      LAKEFS_ENDPOINT: `nowhere-${secret}`,
      PERAGO_LOG_LEVEL: secret,
    },
  })
  expect(problems).toHaveLength(2)
  expect(problems.join()).not.toContain('hunter2')

  const { redactor } = await load({
    environment: { LAKEFS_ACCESS_KEY_ID: 'KEY', LAKEFS_SECRET_ACCESS_KEY: secret },
  })
  expect(redactor.text(`got ${secret}`)).toBe(`got ${REDACTED}`)
})

test('BA-78 an empty variable is one that is not set', async () => {
  await write('perago.yaml', 'log: {level: info}')
  const { configuration } = await load({ environment: { PERAGO_LOG_LEVEL: '', LAKEFS_ENDPOINT: '' } })
  expect(configuration.log.level).toBe('info')
  expect(configuration.lakefs.endpoint).toBeUndefined()
})
