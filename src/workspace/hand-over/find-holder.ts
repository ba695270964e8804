/**
 * Whether a process could still write into a directory: it has something of it open or mapped, works in it, or has it mounted. A
 * write through a mapping need not change a file's times, so this is checked before a directory is reused.
 *
 * Names prove nothing: in another mount namespace, such as a container's, a directory has other paths. So what processes hold
 * is compared by device and inode, and what they have mounted by the directory's own name, which nothing else has.
 *
 * Uses Linux' /proc. On other systems the answer is that it cannot be told. Processes outside this process' own PID namespace
 * cannot be seen.
 */

import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../base/clock.ts'
import { readProcessStatus } from '../../base/process-identity.ts'
import { systemCode } from '../disk-errors.ts'
import { WORKSPACE_HOLDER_PASSES_MAX, WORKSPACE_WALK_SLICE_MS } from '../limits.ts'
import { parseMounts } from '../mounts.ts'
import type { HeldDirectory } from './held-directory.ts'
import { StartedCount } from './started-count.ts'

/** A moment on the scale of process start times. */
export type ProcessMoment =
  | {
      readonly ticks: number
      /** How many processes had been started until then, where this can be told. */
      readonly started: number | undefined
    }
  | undefined

const startedCount = new StartedCount()
startedCount.read()

/** Now. Processes that started before a body are not its descendants. */
export function readProcessMoment(): ProcessMoment {
  if (process.platform !== 'linux') return undefined
  try {
    // A clock tick of /proc is a hundredth of a second.
    const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
    if (!Number.isFinite(uptimeSeconds)) return undefined
    return { ticks: Math.floor(uptimeSeconds * 100), started: startedCount.read() }
  } catch {
    return undefined
  }
}

/**
 * The process that uses the directory, as the end of a sentence; `undefined` if there is none. Checks this process and those
 * that started at `since` or later. One that cannot be read may use it.
 */
export async function findHolder(held: HeldDirectory, since: ProcessMoment): Promise<string | undefined> {
  if (process.platform !== 'linux' || since === undefined)
    return 'it cannot be told on this system whether a process uses it'
  try {
    return await new HolderSearch(held, since).run()
  } catch (error) {
    return `the processes cannot be listed (${systemCode(error) ?? 'no code'})`
  }
}

/** A hundredth of a second, and rounding. */
const SLACK_TICKS = 2

/** `look-again`: it changed or ended while it was looked at. */
type Look = { readonly use: string } | 'free' | 'look-again'

class HolderSearch {
  readonly #held: HeldDirectory
  readonly #since: NonNullable<ProcessMoment>
  readonly #free = new Set<number>()
  readonly #mountNamespaces = new Set<string>()

  constructor(held: HeldDirectory, since: NonNullable<ProcessMoment>) {
    this.#held = held
    this.#since = since
  }

  /**
   * A process that is not seen may have started another one before it ended. So the processes are listed until nothing new is
   * among them, and once more, because a new one with a lower number can be missed by a single list.
   */
  async run(): Promise<string | undefined> {
    if (this.#isAlone()) {
      const look = this.#lookAt(process.pid)
      if (typeof look === 'object') return `process ${process.pid} ${look.use}`
      if (look === 'free' && this.#isAlone()) return undefined
    }
    if (process.getuid?.() !== 0 && hidesProcesses()) return 'the processes of other users are hidden'
    let quietPasses = 0
    for (let pass = 0; pass < WORKSPACE_HOLDER_PASSES_MAX; pass++) {
      const found = await this.#pass()
      if (typeof found === 'object') return found.use
      quietPasses = found === 'quiet' ? quietPasses + 1 : 0
      if (quietPasses === QUIET_PASSES) return undefined
      // What is ending needs a moment.
      if (found === 'look-again' && pass >= HASTY_PASSES) await systemClock.sleep(1)
    }
    return 'processes start and end faster than they can be looked at'
  }

  /** Nothing was started since, so that no other process can be of the body. */
  #isAlone(): boolean {
    const { started } = this.#since
    return started !== undefined && startedCount.read() === started
  }

  async #pass(): Promise<{ readonly use: string } | 'quiet' | 'look-again' | 'something-new'> {
    let beganAtMs = performance.now()
    let result: 'quiet' | 'look-again' | 'something-new' = 'quiet'
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      if (Number.isNaN(pid) || this.#free.has(pid)) continue
      const look = this.#lookAt(pid)
      if (typeof look === 'object') return { use: `process ${pid} ${look.use}` }
      if (look === 'free') this.#free.add(pid)
      if (look === 'look-again') result = look
      else if (result === 'quiet') result = 'something-new'
      if (performance.now() - beganAtMs < WORKSPACE_WALK_SLICE_MS) continue
      await nextTurn()
      beganAtMs = performance.now()
    }
    return result
  }

  #lookAt(pid: number): Look {
    try {
      const status = readProcessStatus(pid)
      if (status === undefined) return 'look-again'
      const mayBeOfBody = pid === process.pid || status.startTicks >= this.#since.ticks - SLACK_TICKS
      if (status.isOfKernel || !mayBeOfBody) return 'free'
      return this.#lookAtTasks(pid, status.isZombie)
    } catch (error) {
      return asLook(error)
    }
  }

  /** Threads may have files and directories of their own, and outlive the first one. */
  #lookAtTasks(pid: number, isZombie: boolean): Look {
    const tasks = pid === process.pid ? [String(pid)] : readdirSync(`/proc/${pid}/task`)
    for (const task of tasks) {
      if (isZombie && task === String(pid)) continue
      const place = `/proc/${pid}/task/${task}`
      const look = this.#lookAtFiles(place)
      if (look !== 'free') return look
    }
    return 'free'
  }

  #lookAtFiles(place: string): Look {
    const works = readLink(`${place}/cwd`)
    // A thread that ends loses its memory first, then its files, then its directories; after that it starts nothing.
    if (works === undefined) return existsSync(place) ? 'free' : 'look-again'
    if (this.#isHeld(`${place}/cwd`, works)) return { use: 'has it as its working directory' }
    const root = `${place}/root`
    if (this.#isHeld(root, readlinkSync(root))) return { use: 'has it as its root' }
    if (this.#hasMounted(place)) return { use: 'has a part of it mounted' }
    let look: Look = 'free'
    for (const descriptor of readdirSync(`${place}/fd`)) {
      const path = readLink(`${place}/fd/${descriptor}`)
      // Through the first one of this process the list itself was read; of another one it may have another number now.
      if (path === undefined) look = place === OWN_TASK ? 'free' : 'look-again'
      else if (this.#isHeld(`${place}/fd/${descriptor}`, path))
        return { use: `has ${JSON.stringify(path)} open` }
    }
    return this.#held.isMappedIn(readFileSync(`${place}/maps`, 'utf8'))
      ? { use: 'has a file of it mapped' }
      : look
  }

  #hasMounted(place: string): boolean {
    const namespace = readlinkSync(`${place}/ns/mnt`)
    if (this.#mountNamespaces.has(namespace)) return false
    if (this.#held.isNamedIn(readFileSync(`${place}/mountinfo`, 'utf8'))) return true
    this.#mountNamespaces.add(namespace)
    return false
  }

  #isHeld(link: string, path: string): boolean {
    if (this.#held.isBelow(path)) return true
    // Pipes and sockets have no path.
    if (!path.startsWith('/')) return false
    const stats = statSync(link, { bigint: true, throwIfNoEntry: false })
    return stats !== undefined && this.#held.hasInode(stats)
  }
}

const QUIET_PASSES = 2
const HASTY_PASSES = 10
const OWN_TASK = `/proc/${process.pid}/task/${process.pid}`

/** Whether /proc shows a user only the own processes. */
function hidesProcesses(): boolean {
  return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8')).some(
    ({ type, mountPoint, options }) =>
      type === 'proc' &&
      mountPoint === '/proc' &&
      options.some((option) => option.startsWith('hidepid=') && !/=(?:0|off)$/.test(option)),
  )
}

function asLook(error: unknown): Look {
  const code = systemCode(error)
  // It has ended meanwhile.
  if (code === 'ENOENT' || code === 'ESRCH') return 'look-again'
  return { use: `cannot be inspected (${code ?? 'no code'})` }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch (error) {
    // Closed meanwhile.
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
