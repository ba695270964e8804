/** What a builder has collected so far. */

import type { TaskDefinition } from '../../tasks/task-definition.ts'
import type { UnitDocument, UnitDocuments } from './document.ts'
import type { PipelineDefinition } from './pipeline-definition.ts'

export class UnitCollection {
  readonly tasks = new Map<string, TaskDefinition>()
  readonly children = new Map<string, PipelineDefinition>()
  readonly problems: string[] = []
  private row: Record<string, UnitDocument> = {}

  /** The units that a function writes. */
  inside(build: () => void): UnitDocuments {
    const outer = this.row
    this.row = {}
    try {
      build()
      return this.row
    } finally {
      this.row = outer
    }
  }

  add(name: string, unit: UnitDocument): void {
    if (Object.hasOwn(this.row, name)) this.problems.push(`units.${name}: the name "${name}" is used twice`)
    // A property of its own, also where the name is "__proto__".
    Object.defineProperty(this.row, name, {
      value: unit,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }

  noteTask(task: TaskDefinition): void {
    const known = this.tasks.get(task.name)
    if (known !== undefined && known !== task) this.problems.push(`two tasks are named "${task.name}"`)
    this.tasks.set(task.name, task)
  }

  noteChild(child: PipelineDefinition): void {
    const key = `${child.name} version ${child.version}`
    const known = this.children.get(key)
    if (known !== undefined && known !== child) this.problems.push(`two pipelines are ${key}`)
    this.children.set(key, child)
  }
}
