/** The parts of one test of pipelines. */

import type { ManualClock } from '../manual-clock.ts'
import type { Driver } from './driver.ts'
import type { EngineHost } from './engine-host.ts'
import type { PassingTime } from './passing-time.ts'
import type { TestRepository } from './test-repository.ts'
import type { Workbench } from './workbench.ts'

export interface TestWorld {
  readonly clock: ManualClock
  readonly time: PassingTime
  readonly host: EngineHost
  readonly repository: TestRepository
  readonly workbench: Workbench
  readonly driver: Driver
}
