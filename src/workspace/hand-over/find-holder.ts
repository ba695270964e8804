/**
 * Whether some process could still write into a directory: it has a file of it open or mapped, or stands in it. A write
 * through a mapping need not show in a file's times, so this has to be known before a directory is trusted.
 *
 * Asked of Linux' /proc. Elsewhere it cannot be asked, and the answer is that it may be so.
 */

import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { systemCode } from '../disk-errors.ts'

/** A moment on the scale on which the system dates its processes. */
export type ProcessMoment = number | undefined

/** Processes that started before a body did are not its children, nor theirs. */
export function readProcessMoment(): ProcessMoment {
  if (process.platform !== 'linux') return undefined
  try {
    // In hundredths of a second: what /proc calls a clock tick has been that for twenty years.
    const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
    return Number.isFinite(uptimeSeconds) ? Math.floor(uptimeSeconds * 100) : undefined
  } catch {
    return undefined
  }
}

/**
 * What holds the directory, as the end of a sentence; `undefined` when nothing does. Looks at this process and at those
 * that started at `since` or later; processes of other users are not looked into.
 */
export function findHolder(directory: string, since: ProcessMoment): string | undefined {
  if (process.platform !== 'linux' || since === undefined)
    return 'whether a process holds it cannot be told here'
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue
      const pid = Number(name)
      if (pid !== process.pid && !mayBeOfBody(pid, since)) continue
      const held = whatIsHeld(pid, directory)
      if (held !== undefined) return `process ${pid} ${held}`
    }
    return undefined
  } catch (error) {
    return `the processes cannot be looked at (${systemCode(error) ?? 'no code'})`
  }
}

/** One hundredth of a second and its rounding, both ways. */
const SLACK_TICKS = 2

function mayBeOfBody(pid: number, since: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Behind the name, which is in parentheses and may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[19]) < since - SLACK_TICKS) return false
    const { uid } = statSync(`/proc/${pid}`)
    return process.getuid?.() === 0 || uid === process.getuid?.()
  } catch {
    // Gone.
    return false
  }
}

function whatIsHeld(pid: number, directory: string): string | undefined {
  const isInside = (path: string): boolean => path === directory || path.startsWith(`${directory}/`)
  try {
    for (const [link, what] of [
      ['cwd', 'stands in it'],
      ['root', 'has it as its root'],
    ] as const)
      if (isInside(readlinkSync(`/proc/${pid}/${link}`))) return what
    for (const descriptor of readdirSync(`/proc/${pid}/fd`)) {
      const path = readLink(`/proc/${pid}/fd/${descriptor}`)
      if (path !== undefined && isInside(path)) return `has ${JSON.stringify(path)} open`
    }
    return readFileSync(`/proc/${pid}/maps`, 'utf8').includes(`${directory}/`)
      ? 'has a file of it mapped'
      : undefined
  } catch (error) {
    const code = systemCode(error)
    // It has ended meanwhile, and holds nothing any more.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    return `cannot be looked into (${code ?? 'no code'})`
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    // Closed meanwhile, as the one through which the directory was just listed.
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
