import { expect, test } from 'vitest'
import { ManualClock } from '../testing/manual-clock.ts'
import { UnavailableError } from './errors.ts'
import { createJsonLogger } from './json-logger.ts'
import { LOG_TEXT_MAX_CHARS } from './limits.ts'
import type { LoggerSettings } from './log-line.ts'
import { silentLogger, type Logger, type LogLevel } from './logger.ts'
import { createPrettyLogger } from './pretty-logger.ts'
import { createRedactor, REDACTED } from './redaction.ts'

const secret = 'hunter2-hunter2'
const redactor = createRedactor([secret])

const kinds: readonly [string, (settings: LoggerSettings) => Logger][] = [
  ['json', createJsonLogger],
  ['pretty', (settings) => createPrettyLogger({ ...settings, clock: new ManualClock() })],
]

function written(
  open: (settings: LoggerSettings) => Logger,
  level: LogLevel,
  use: (logger: Logger) => void,
): string[] {
  const lines: string[] = []
  use(open({ level, redactor, write: (line) => lines.push(line) }))
  return lines
}

test.each(kinds)('BA-30 %s writes no secret, in message, fields, bindings or errors', (_name, open) => {
  const lines = written(open, 'info', (logger) => {
    logger.child({ password: 'abc', note: `bound ${secret}` }).info(`said ${secret}`, {
      url: `http://me:${secret}@h/`,
      error: new UnavailableError('base/x', `got ${secret}`, { cause: new Error(secret) }),
    })
  })
  expect(lines).toHaveLength(1)
  expect(lines[0]).not.toContain('hunter2')
  expect(lines[0]).not.toContain('abc')
  expect(lines[0]).toContain(`said ${REDACTED}`)
  expect(lines[0]).toContain('base/x')
})

test.each(kinds)('BA-31 %s writes from its level on, and nothing when silent', (_name, open) => {
  const sayAll = (logger: Logger): void => {
    for (const level of ['trace', 'debug', 'info', 'warn', 'error'] as const) logger[level](`at ${level}`)
  }
  expect(written(open, 'trace', sayAll)).toHaveLength(5)
  expect(written(open, 'warn', sayAll).map((line) => /at (\w+)/.exec(line)?.[1])).toEqual(['warn', 'error'])
  expect(written(open, 'silent', sayAll)).toEqual([])
})

test.each(kinds)('BA-32 %s keeps a line a line, whatever stands in it', (_name, open) => {
  const nasty = 'a\nb\r\u001b[31mred\u2028c\u202ed'
  const lines = written(open, 'info', (logger) => logger.info(nasty, { [nasty]: nasty }))
  expect(lines).toHaveLength(1)
  // eslint-disable-next-line no-control-regex -- that is the point
  expect(lines[0]?.slice(0, -1)).not.toMatch(/[\u0000-\u001f]/)
  expect(lines[0]?.endsWith('\n')).toBe(true)
})

test.each(kinds)(
  'BA-33 %s cuts a long text after redaction, so that no half of a secret is left',
  (_name, open) => {
    const long = 'x'.repeat(LOG_TEXT_MAX_CHARS - 5) + ` ${secret}`
    const [line = ''] = written(open, 'info', (logger) => logger.info(long, { long }))
    expect(line).not.toContain('hunt')
    expect(line.length).toBeLessThan(3 * LOG_TEXT_MAX_CHARS)
  },
)

test('BA-34 a JSON line is one JSON object with time, level, message and fields', () => {
  const [line = ''] = written(createJsonLogger, 'info', (logger) =>
    logger.child({ task: 't1' }).warn('slow', { retryAfterMs: 2000 }),
  )
  const parsed = JSON.parse(line) as Record<string, unknown>
  expect(parsed).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as unknown,
    task: 't1',
    retryAfterMs: 2000,
    message: 'slow',
  })
})

test('BA-34 an error in a JSON line keeps its name, code and cause', () => {
  const error = new UnavailableError('base/x', 'away', { cause: new Error('inner') })
  const [line = ''] = written(createJsonLogger, 'info', (logger) => logger.warn('slow', { error }))
  expect((JSON.parse(line) as { error: unknown }).error).toMatchObject({
    name: 'UnavailableError',
    code: 'base/x',
    message: 'away',
    cause: { name: 'Error', message: 'inner' },
  })
})

test('BA-34 a pretty line reads time, level, sentence, fields', () => {
  const lines: string[] = []
  const logger = createPrettyLogger({
    level: 'info',
    redactor,
    write: (line) => lines.push(line),
    clock: new ManualClock(new Date('2026-01-01T09:15:02.118Z')),
  })
  logger.child({ port: 8000 }).info('listening', { host: '127.0.0.1', note: 'two words' })
  expect(lines).toEqual(['09:15:02.118 info  listening  port=8000  host=127.0.0.1  note="two words"\n'])
})

test('BA-31 the silent logger takes everything and stays silent', () => {
  expect(() => {
    silentLogger.child({ a: 1 }).error('nobody hears', { b: 2 })
  }).not.toThrow()
})

test('BA-31 pretty shows an error as one sentence with its code and cause, and its stack to developers alone', () => {
  const error = new UnavailableError('base/x', 'no answer', { cause: new TypeError('closed') })
  const shown = (level: LogLevel): string =>
    written(
      (settings) => createPrettyLogger({ ...settings, clock: new ManualClock() }),
      level,
      (logger) => logger.error('it failed', { error }),
    )[0] ?? ''
  expect(shown('warn')).toMatch(/it failed {2}error="no answer \[base\/x\]: TypeError: closed"\n$/)
  expect(shown('debug')).toContain('logger.test.ts')
})
