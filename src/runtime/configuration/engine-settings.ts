/** The settings of the embedded engine. */

import type { EngineOptions } from '../../engine/host/open-engine.ts'
import { CHECKPOINT_FREQUENCIES } from '../../engine/checkpoints/due-checkpoint.ts'
import type { EngineCheckpoints } from '../../engine/host/engine-checkpoints.ts'
import {
  CONCURRENT_TASKS_MAX,
  CONCURRENT_TASKS_PER_PHASE_MAX,
  EXECUTIONS_AT_ONCE,
  POOL_CPU_CORES,
  POOL_GPUS,
  POOL_MEMORY_BYTES,
} from '../../engine/limits.ts'
import { BALANCING, STRATEGIES } from '../../engine/scheduling/options.ts'
import type { Resolved, Setting } from '../../base/configuration.ts'
import { choiceSchema, sizeSchema, wholeNumberSchema } from './configuration-schemas.ts'

const COUNT_MAX = 1_000_000

export const ENGINE_SETTINGS = {
  'engine.executionsAtOnce': {
    schema: wholeNumberSchema({ least: 1, most: COUNT_MAX }),
    about:
      'How many executions the engine of `perago dev` or `perago serve` runs at the same time, of each tenant; more wait.',
    fallback: EXECUTIONS_AT_ONCE,
  },
  'engine.tasksAtOnce': {
    schema: wholeNumberSchema({ least: 1, most: COUNT_MAX }),
    about: 'How many tasks it runs at the same time.',
    fallback: CONCURRENT_TASKS_MAX,
  },
  'engine.tasksPerPhase': {
    schema: wholeNumberSchema({ least: 1, most: COUNT_MAX }),
    about: 'How many tasks of one phase of an execution it runs at the same time.',
    fallback: CONCURRENT_TASKS_PER_PHASE_MAX,
  },
  'engine.cpuCores': {
    schema: wholeNumberSchema({ least: 1, most: COUNT_MAX }),
    about: 'The CPU cores that running tasks may demand together.',
    fallback: POOL_CPU_CORES,
  },
  'engine.memory': {
    schema: sizeSchema(),
    about: 'The memory that running tasks may demand together, such as `64Gi`.',
    fallback: POOL_MEMORY_BYTES,
  },
  'engine.gpus': {
    schema: wholeNumberSchema({ least: 0, most: COUNT_MAX }),
    about: 'The GPUs that running tasks may demand together.',
    fallback: POOL_GPUS,
  },
  'engine.strategy': {
    schema: choiceSchema(STRATEGIES),
    about:
      'Which task goes first: `priority` by critical path, priority and risk; `fair` from the execution with the fewest running tasks; `plain` as Conductor does.',
    fallback: 'priority',
  },
  'engine.balancing': {
    schema: choiceSchema(BALANCING),
    about:
      'Which worker gets a task: `none`, `round-robin`, `least-connections`, `weighted` or `consistent-hashing`.',
    fallback: 'consistent-hashing',
  },
  'engine.checkpoints': {
    schema: choiceSchema(CHECKPOINT_FREQUENCIES),
    about:
      'When a checkpoint of an execution is taken: after each `phase`, also before each `unit`, or `never`.',
    fallback: 'phase',
  },
} as const satisfies Readonly<Record<string, Setting>>

type EngineSettings = Resolved<typeof ENGINE_SETTINGS>['settings']

/** What of it is an option of `openEngine`. */
export type EngineConfiguration = Required<Pick<EngineOptions, 'atOnceMax' | 'scheduling'>> & {
  readonly checkpoints: Pick<EngineCheckpoints, 'frequency'>
}

export function assembleEngine(settings: EngineSettings): EngineConfiguration {
  return {
    atOnceMax:
      settings['engine.executionsAtOnce'].value ?? ENGINE_SETTINGS['engine.executionsAtOnce'].fallback,
    checkpoints: {
      frequency: settings['engine.checkpoints'].value ?? ENGINE_SETTINGS['engine.checkpoints'].fallback,
    },
    scheduling: {
      strategy: settings['engine.strategy'].value ?? ENGINE_SETTINGS['engine.strategy'].fallback,
      balancing: settings['engine.balancing'].value ?? ENGINE_SETTINGS['engine.balancing'].fallback,
      concurrentTasksMax:
        settings['engine.tasksAtOnce'].value ?? ENGINE_SETTINGS['engine.tasksAtOnce'].fallback,
      concurrentPerPhaseMax:
        settings['engine.tasksPerPhase'].value ?? ENGINE_SETTINGS['engine.tasksPerPhase'].fallback,
      pool: {
        cpu: settings['engine.cpuCores'].value ?? ENGINE_SETTINGS['engine.cpuCores'].fallback,
        memoryBytes: settings['engine.memory'].value ?? ENGINE_SETTINGS['engine.memory'].fallback,
        gpu: settings['engine.gpus'].value ?? ENGINE_SETTINGS['engine.gpus'].fallback,
      },
    },
  }
}
