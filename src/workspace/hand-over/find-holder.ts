/**
 * Whether a process could still write into a directory, because it has a file of it open or mapped, or has it as its working
 * directory. A write through a mapping need not change a file's times, so this is checked before a directory is reused.
 *
 * Uses Linux' /proc. On other systems the answer is that it cannot be told.
 */

import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { systemCode } from '../disk-errors.ts'
import { readStartTicks } from '../ownership/process-identity.ts'

/** A moment on the scale of process start times. */
export type ProcessMoment = number | undefined

/** Now. Processes that started before a body are not its descendants. */
export function readProcessMoment(): ProcessMoment {
  if (process.platform !== 'linux') return undefined
  try {
    // A clock tick of /proc is a hundredth of a second.
    const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
    return Number.isFinite(uptimeSeconds) ? Math.floor(uptimeSeconds * 100) : undefined
  } catch {
    return undefined
  }
}

/**
 * The process that uses the directory, as the end of a sentence; `undefined` if there is none. Checks this process and
 * those that started at `since` or later, except those of other users.
 */
export function findHolder(directory: string, since: ProcessMoment): string | undefined {
  if (process.platform !== 'linux' || since === undefined)
    return 'it cannot be told on this system whether a process uses it'
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue
      const pid = Number(name)
      if (pid !== process.pid && !mayBeOfBody(pid, since)) continue
      const use = findUse(pid, directory)
      if (use !== undefined) return `process ${pid} ${use}`
    }
    return undefined
  } catch (error) {
    return `the processes cannot be listed (${systemCode(error) ?? 'no code'})`
  }
}

/** A hundredth of a second, and rounding. */
const SLACK_TICKS = 2

function mayBeOfBody(pid: number, since: number): boolean {
  try {
    const startTicks = readStartTicks(pid)
    if (startTicks !== undefined && startTicks < since - SLACK_TICKS) return false
    const { uid } = statSync(`/proc/${pid}`)
    return process.getuid?.() === 0 || uid === process.getuid?.()
  } catch {
    // It has ended.
    return false
  }
}

function findUse(pid: number, directory: string): string | undefined {
  const isInside = (path: string): boolean => path === directory || path.startsWith(`${directory}/`)
  try {
    for (const [link, what] of [
      ['cwd', 'has it as its working directory'],
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
    // It has ended meanwhile.
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    return `cannot be inspected (${code ?? 'no code'})`
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    // Closed meanwhile, such as the one through which the directory was listed.
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
