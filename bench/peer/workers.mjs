// The two workers that are compared, each with its own command and its own settings for the servers.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { declaredTaskDef } from '../../dist/runtime/modules/task-registration.js'
import { loadTasks } from '../../dist/worker/bodies/load-tasks.js'
import { HERE as THIS, layOutTask, layOutTasks, mainOf } from '../support/checkouts.mjs'
import {
  cpuMs,
  peakRssMib,
  processCount,
  pssMib,
  resetPeakRss,
  rssMib,
  startProgram,
  waitFor,
  watchPss,
} from '../support/processes.mjs'

const HERE = dirname(fileURLToPath(import.meta.url))
const FIRST_POLL_MS = 300_000
const LOOK_MS = 10
const CALM_MS = 3_000
/** Of one core. */
const CALM_SHARE = 0.5

/** Cold: each attempt from scratch, without a content cache and without a reused directory. Warm: default settings. */
const KINDS = [
  { id: 'ours', name: 'ours, cold', isWarm: false, domain: 'cold' },
  { id: 'warm', name: 'ours, warm', isWarm: true, domain: 'warm' },
]
const KINDS_BEFORE = [
  { id: 'before', name: 'before, cold', isWarm: false, domain: 'before-cold' },
  { id: 'before-warm', name: 'before, warm', isWarm: true, domain: 'before-warm' },
]

/** This checkout, cold and warm, and the one beside it. */
export function openAllOurs(bench, beside) {
  const sides = KINDS.map((kind) => openOurs(bench, kind, THIS))
  if (beside !== undefined) sides.push(...KINDS_BEFORE.map((kind) => openOurs(bench, kind, beside)))
  return sides
}

function openOurs(bench, kind, checkout) {
  let count = 0
  // Two benches on one Conductor take no task of each other.
  const domain = `${kind.domain}-${process.pid}`
  const main = mainOf(checkout)
  const tasksPath = layOutTasks(bench, checkout)
  const { stdout: help } = spawnSync(process.execPath, [main, 'start', '--help'], { encoding: 'utf8' })
  const flags = [
    // Its definitions may differ from those that are registered, which are of this checkout.
    ...(checkout === THIS ? [] : [['--allow-drift']]),
    ...(kind.isWarm ? [] : [['--no-warm'], ['--cache-size', '0']]),
  ]
  const known = flags.filter(([flag]) => help.includes(flag)).flat()
  return {
    ...kind,
    domain,
    ...{ isOurs: true, main, tasksPath },
    taskOf: (name) => `perago_bench_${name}`,
    taskDefs: async () => (await loadTasks(tasksPath)).map(declaredTaskDef),
    // One module, one task, like the peer.
    start({ task, lakefs, conductor, slots, processes = 1, node = process.execPath, profile }) {
      const directory = join(bench.directory, 'ours', kind.id, String(++count))
      mkdirSync(directory, { recursive: true })
      const root = join(directory, 'root')
      const many = ['--slots', String(slots), '--jobs', String(processes)]
      const options = [...many, '--root', root, '--domain', domain, ...known]
      const module = layOutTask(bench, tasksPath, task)
      return startProgram(node, [main, 'start', module, ...options], {
        cwd: directory,
        env: {
          ...serversEnv({ lakefs, conductor }),
          ...(profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }),
        },
      })
    },
  }
}

/** The variables that name both servers to our commands. */
export function serversEnv({ lakefs, conductor }) {
  return {
    LAKEFS_ENDPOINT: lakefs.url,
    LAKEFS_ACCESS_KEY_ID: lakefs.keys.accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: lakefs.keys.secretAccessKey,
    ...(conductor === undefined ? {} : { CONDUCTOR_SERVER_URL: `${conductor.url}/api` }),
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
    id: 'peer',
    name: 'peer',
    taskOf: (name) => `perago_bench_${name}_python`,
    async taskDefs(servers) {
      const defs = []
      for (const name of ['write', 'read', 'noop']) {
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
    // One module, one task; its processes run one task each.
    start: ({ task, slots, processes = 1, ...servers }) =>
      spawn(['start', `bench_${task}`, '-j', String(slots * processes)], servers).program,
  }
}

/** A worker that polls, and the time until its first poll. */
export async function startWorker(bench, side, { task, conductor, ...more }) {
  const taskType = side.taskOf(task)
  const startMs = Date.now()
  const program = side.start({ task, conductor, ...more })
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
    /** Until each of its processes takes tasks: ours says so, the peer no longer uses the processor. */
    allStarted: ({ withinMs }) =>
      waitFor(
        `all processes of ${side.name}`,
        side.isOurs ? () => /^ready/m.test(program.said()) : isCalm(program),
        {
          ...{ withinMs, program, lookMs: CALM_MS },
        },
      ),
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

/** Whether a program and its processes use about as little of the processor as the last time, and no process is new. */
function isCalm(program) {
  let before = { cpu: Infinity, processes: 0 }
  return () => {
    const now = { cpu: cpuMs(program.pid), processes: processCount(program.pid) }
    const used = now.cpu - before.cpu
    const isNew = now.processes !== before.processes
    before = now
    return !isNew && used >= 0 && used < CALM_SHARE * CALM_MS
  }
}
