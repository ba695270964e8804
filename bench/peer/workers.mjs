// The two workers that are compared, each with its own command and its own settings for the servers.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { declaredTaskDef } from '../../dist/runtime/modules/task-registration.js'
import { loadTasks } from '../../dist/worker/bodies/load-tasks.js'
import {
  cpuMs,
  peakRssMib,
  pssMib,
  resetPeakRss,
  rssMib,
  startProgram,
  waitFor,
  watchPss,
} from '../support/processes.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
const MAIN = join(HERE, '../../dist/cli/main.js')
const TASKS_PATH = join(HERE, '../support/tasks.mjs')
const FIRST_POLL_MS = 120_000
const LOOK_MS = 10

/** Each attempt from scratch: no content cache, no reused directory. */
export const COLD = { name: 'ours', isWarm: false, domain: 'cold' }
/** With default settings. */
export const WARM = { name: 'ours, warm', isWarm: true, domain: 'warm' }

let coldFlags

/** Switches off everything that would avoid a checkout. */
function flagsOf({ isWarm }) {
  coldFlags ??= (() => {
    const { stdout } = spawnSync(process.execPath, [MAIN, 'start', '--help'], { encoding: 'utf8' })
    return [
      ...(stdout.includes('--no-warm') ? ['--no-warm'] : []),
      ...(stdout.includes('--cache-size') ? ['--cache-size', '0'] : []),
    ]
  })()
  return isWarm ? [] : coldFlags
}

export function canBeWarm() {
  flagsOf(COLD)
  return coldFlags.length > 0
}

export function openOurs(bench, kind) {
  let count = 0
  return {
    ...kind,
    isOurs: true,
    taskOf: (name) => `perago_bench_${name}`,
    taskDefs: async () => (await loadTasks(TASKS_PATH)).map(declaredTaskDef),
    start({ lakefs, conductor, slots, profile }) {
      const directory = join(bench.directory, 'ours', kind.isWarm ? 'warm' : 'cold', String(++count))
      mkdirSync(directory, { recursive: true })
      const root = join(directory, 'root')
      const options = ['--slots', String(slots), '--root', root, '--domain', kind.domain, ...flagsOf(kind)]
      return startProgram(process.execPath, [MAIN, 'start', TASKS_PATH, ...options], {
        cwd: directory,
        env: {
          LAKEFS_ENDPOINT: lakefs.url,
          LAKEFS_ACCESS_KEY_ID: lakefs.keys.accessKeyId,
          LAKEFS_SECRET_ACCESS_KEY: lakefs.keys.secretAccessKey,
          CONDUCTOR_SERVER_URL: `${conductor.url}/api`,
          ...(profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }),
        },
      })
    },
  }
}

export function openPeer(bench, python) {
  let count = 0
  const spawn = (args, { lakefs, conductor }) => {
    const directory = join(bench.directory, 'peer', String(++count))
    mkdirSync(directory, { recursive: true })
    const program = startProgram(python, ['-m', 'perago.cli', ...args], {
      cwd: directory,
      env: {
        PYTHONPATH: HERE,
        PYTHONDONTWRITEBYTECODE: '1',
        PERAGO_WORKSPACE_ROOT: join(directory, 'workspaces'),
        PERAGO_LOG_ROOT: join(directory, 'logs'),
        CONDUCTOR_SERVER_URL: `${conductor.url}/api`,
        LAKECTL_SERVER_ENDPOINT_URL: lakefs.url,
        LAKECTL_CREDENTIALS_ACCESS_KEY_ID: lakefs.keys.accessKeyId,
        LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY: lakefs.keys.secretAccessKey,
      },
    })
    return { program, directory }
  }
  return {
    name: 'peer',
    taskOf: (name) => `perago_bench_${name}_python`,
    async taskDefs(servers) {
      const defs = []
      for (const name of ['write', 'read']) {
        const { program, directory } = spawn(
          ['extract', `bench_${name}`, '--output', 'taskdef.json'],
          servers,
        )
        await new Promise((resolve) => program.child.once('exit', resolve))
        if (program.child.exitCode !== 0) throw new Error(`extract the task of the peer: ${program.said()}`)
        defs.push(JSON.parse(readFileSync(join(directory, 'taskdef.json'), 'utf8')))
      }
      return defs
    },
    // One module, one task, one worker.
    start: ({ task, slots, ...servers }) =>
      spawn(['start', `bench_${task}`, '-j', String(slots)], servers).program,
  }
}

/** A worker that polls, and the time until its first poll. */
export async function startWorker(bench, side, { task, slots, lakefs, conductor, profile }) {
  const taskType = side.taskOf(task)
  const startMs = Date.now()
  const program = side.start({ task, slots, lakefs, conductor, profile })
  bench.defer(() => program.close())
  const polled = async () => {
    const answer = await fetch(`${conductor.url}/api/tasks/queue/polldata?taskType=${taskType}`)
    const polls = await answer.json()
    return polls.find(
      ({ lastPollTime, domain }) => lastPollTime >= startMs && (domain ?? undefined) === side.domain,
    )
  }
  const { lastPollTime } = await waitFor(`the first poll of ${side.name}`, polled, {
    withinMs: FIRST_POLL_MS,
    program,
    lookMs: LOOK_MS,
  })
  return {
    side,
    taskType,
    firstPollSeconds: (lastPollTime - startMs) / 1_000,
    rssMib: () => rssMib(program.pid),
    pssMib: () => pssMib(program.pid),
    watchPss: () => watchPss(program.pid),
    peakRssMib: () => peakRssMib(program.pid),
    resetPeakRss: () => resetPeakRss(program.pid),
    pause: () => program.pause(),
    resume: () => program.resume(),
    cpuMs: () => cpuMs(program.pid),
    close: () => program.close(),
  }
}
