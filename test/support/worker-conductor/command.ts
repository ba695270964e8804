// `perago start`, as it is shipped, for the tasks of a world.
import { readdirSync, readFileSync } from 'node:fs'
import { openProject, type Project, type Started } from '../cli/command.ts'
import { TASKS_PATH, until, type WorkerWorld } from './world.ts'

export interface StartedWorkers extends Started {
  /** The worker processes. */
  readonly pids: readonly number[]
}

export interface CommandWorld {
  /** Resolves when each of `jobs` processes, with one place each, takes work. */
  start(jobs: number): Promise<StartedWorkers>
  close(): Promise<void>
}

export async function openCommandWorld(world: WorkerWorld): Promise<CommandWorld> {
  const project: Project = await openProject()
  const { lakefs, conductor } = world.configuration
  const environment = {
    CONDUCTOR_SERVER_URL: conductor.serverUrl ?? '',
    LAKEFS_ENDPOINT: lakefs.endpoint ?? '',
    LAKEFS_ACCESS_KEY_ID: lakefs.credentials?.accessKeyId ?? '',
    LAKEFS_SECRET_ACCESS_KEY: lakefs.credentials?.secretAccessKey ?? '',
  }
  return {
    async start(jobs) {
      const args = ['start', TASKS_PATH, '-j', String(jobs), '--slots', '1']
      const started = project.start([...args, '--domain', world.domain, '--root', world.root], environment)
      await started.firstLine
      const pids = childrenOf(started.child.pid ?? 0)
      await until('every worker process is known', () => pids.length === jobs)
      return { ...started, pids }
    },
    close: () => project.close(),
  }
}

/** The processes whose parent this one is. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent)
}

function parentOf(pid: number): number | undefined {
  try {
    // The name may hold spaces and parentheses; what follows its last one is the state and then the parent.
    const [, after = ''] = /^\d+ \(.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return Number(after.split(' ')[1])
  } catch {
    return undefined
  }
}
