/**
 * Makes a graph of a workflow definition of Conductor's.
 *
 * - A task is after the one before it in its list; the first one of a branch is after its FORK_JOIN, the first one of a case
 *   after its SWITCH. What follows a SWITCH is after the SWITCH and the ends of all its cases: those that were not chosen are
 *   skipped.
 * - A JOIN is after the tasks that it joins, and nothing else.
 */

import { InvalidError } from '../../../base/errors.ts'
import { parseExpression } from '../../../core/expressions/parse-expression.ts'
import { isPeragoError } from '../../../base/errors.ts'
import type { JsonObject } from '../../../base/json.ts'
import { referencesIn } from '../../../tasks/workflow-steps.ts'
import type { Graph, SetUnit, Unit, UnitBase } from '../../graph/graph.ts'
import { LOOP_MAX_ITERATIONS } from '../../limits.ts'
import { parameterFinder } from './loop-variables.ts'
import { translateLoopCondition } from './loop-condition.ts'
import { findScopes, type Scopes } from './scopes.ts'
import { endUnit, switchUnit, taskUnit, waitUnit } from './units-of-task.ts'
import {
  readWorkflowDocument,
  walkTasks,
  type TaskOf,
  type WorkflowDocument,
  type WorkflowTask,
} from './workflow-document.ts'

/**
 * Throws `engine/bad-workflow` with everything that is wrong with it.
 *
 * ```ts
 * const graph = graphOfWorkflow({ name: 'daily', tasks: [{ name: 'orders', taskReferenceName: 'orders' }] })
 * ```
 */
export function graphOfWorkflow(written: unknown): Graph {
  const name = nameOf(written)
  const { document, problems } = readWorkflowDocument(written)
  if (document === undefined) throw invalid(name, problems)
  const compiler = new Compiler(document)
  const graph = compiler.compile()
  if (compiler.problems.length > 0) throw invalid(name, compiler.problems)
  return graph
}

/** What is before a task, and in which case it runs. */
interface Place {
  readonly before: readonly string[]
  readonly onlyIn: UnitBase['onlyIn'] | undefined
}

interface Made {
  readonly units: readonly Unit[]
  /** What the next task is after. */
  readonly ends: readonly string[]
}

class Compiler {
  readonly problems: string[] = []
  readonly #document: WorkflowDocument
  readonly #scopes: Scopes

  constructor(document: WorkflowDocument) {
    this.#document = document
    this.#scopes = findScopes(document.tasks)
  }

  compile(): Graph {
    const { name, version, tasks, inputTemplate, outputParameters } = this.#document
    const { restartable, timeoutSeconds, timeoutPolicy } = this.#document
    this.#checkNames()
    this.#checkRoots()
    const { units } = this.#list(tasks, { before: [], onlyIn: undefined })
    return {
      ...{ name, version, units, inputTemplate, restartable, timeoutSeconds, timeoutPolicy },
      // Conductor takes an empty one for none: the output is that of the last task.
      outputParameters: Object.keys(outputParameters).length === 0 ? undefined : outputParameters,
    }
  }

  #list(tasks: readonly WorkflowTask[], place: Place): Made {
    let { before, onlyIn } = place
    const units: Unit[] = []
    for (const [index, task] of tasks.entries()) {
      this.#checkNeighbours(tasks, index)
      const made = this.#make(task, { before, onlyIn })
      units.push(...made.units)
      before = made.ends
      // What follows in the list is skipped together with the first one.
      onlyIn = undefined
    }
    return { units, ends: before }
  }

  #make(task: WorkflowTask, place: Place): Made {
    const base = baseOf(task, place)
    const alone = (unit: Unit | string): Made => this.#alone(task, unit)
    switch (task.type) {
      case 'SIMPLE':
        return alone(taskUnit(task, base))
      case 'FORK_JOIN':
        return this.#fork(task, base)
      case 'JOIN':
        return this.#join(task, base)
      case 'SWITCH':
        return this.#switch(task, base)
      case 'DO_WHILE':
        return alone(this.#loop(task, base))
      case 'SUB_WORKFLOW': {
        const { name, version } = task.subWorkflowParam
        if (name.includes('${')) return alone('the name of its definition must not be an expression')
        const subWorkflowParam = version === undefined ? { name } : { name, version }
        return alone({ ...base, type: 'SUB_WORKFLOW', subWorkflowParam })
      }
      case 'SET_VARIABLE':
        return alone({ ...base, type: 'SET_VARIABLE' })
      case 'TERMINATE':
        return alone(endUnit(task, base))
      case 'WAIT':
        return alone(waitUnit(task, base))
      case 'HUMAN':
        return alone({ ...base, type: 'HUMAN' })
      case 'NOOP':
        return alone(nothing(base, 'NOOP'))
    }
  }

  #alone({ taskReferenceName }: WorkflowTask, unit: Unit | string): Made {
    const ends = [taskReferenceName]
    if (typeof unit !== 'string') return { units: [unit], ends }
    this.#refuse(taskReferenceName, unit)
    return { units: [], ends }
  }

  #fork({ taskReferenceName: fork, forkTasks }: TaskOf<'FORK_JOIN'>, base: UnitBase): Made {
    const branches = forkTasks.map((tasks) => this.#list(tasks, { before: [fork], onlyIn: undefined }))
    const units = [nothing(base, 'FORK'), ...branches.flatMap((branch) => branch.units)]
    return { units, ends: [fork] }
  }

  #join(task: TaskOf<'JOIN'>, base: UnitBase): Made {
    const { taskReferenceName: join, joinOn } = task
    for (const name of joinOn) {
      const why = this.#scopes.whyNotJoined(join, name)
      if (why !== undefined) this.#refuse(join, `joinOn names "${name}", ${why}`)
    }
    // As in Conductor, one that joins nothing ends at once.
    const unit: Unit =
      joinOn.length === 0 ? nothing(base, 'JOIN') : { ...base, type: 'JOIN', after: [...new Set(joinOn)] }
    return { units: [unit], ends: [join] }
  }

  #switch(task: TaskOf<'SWITCH'>, base: UnitBase): Made {
    const { taskReferenceName: unit, decisionCases, defaultCase } = task
    const chooser = this.#alone(task, switchUnit(task, base))
    const cases = [...Object.entries(decisionCases), ['default', defaultCase] as const]
    const made = cases
      .filter(([, tasks]) => tasks.length > 0)
      .map(([name, tasks]) => this.#list(tasks, { before: [unit], onlyIn: { unit, case: name } }))
    return {
      units: [...chooser.units, ...made.flatMap(({ units }) => units)],
      ends: [unit, ...made.flatMap(({ ends }) => ends)],
    }
  }

  #loop(task: TaskOf<'DO_WHILE'>, base: UnitBase): Unit | string {
    const { units } = this.#list(task.loopOver, { before: [], onlyIn: undefined })
    const translated = translateLoopCondition(task.loopCondition, parameterFinder(task))
    if ('problem' in translated) return `its loopCondition cannot be run: ${translated.problem}`
    try {
      parseExpression(translated.text)
    } catch (error) {
      if (!isPeragoError(error)) throw error
      return `its loopCondition cannot be run: ${error.message}`
    }
    // Conductor has no limit; without one, a condition that always holds would fill the store.
    return {
      ...base,
      type: 'DO_WHILE',
      loopCondition: translated.text,
      max: LOOP_MAX_ITERATIONS,
      units,
    }
  }

  #checkNeighbours(tasks: readonly WorkflowTask[], index: number): void {
    const [task, before, after] = [tasks[index], tasks[index - 1], tasks[index + 1]]
    if (task?.type === 'FORK_JOIN' && after?.type !== 'JOIN')
      this.#refuse(task.taskReferenceName, 'a JOIN must follow this FORK_JOIN directly')
    if (task?.type === 'JOIN' && before?.type !== 'FORK_JOIN')
      this.#refuse(task.taskReferenceName, 'this JOIN must follow a FORK_JOIN directly')
  }

  #checkNames(): void {
    if (this.#document.name === '') this.problems.push('it has no name')
    const seen = new Set<string>()
    for (const { taskReferenceName: name } of walkTasks(this.#document.tasks)) {
      if (seen.has(name)) this.problems.push(`the taskReferenceName "${name}" is used twice`)
      if (/__\d+$/.test(name)) this.#refuse(name, 'in loops, names end with "__" and a number; rename it')
      seen.add(name)
    }
  }

  /** Conductor refuses these too. */
  #checkRoots(): void {
    const tasks = walkTasks(this.#document.tasks)
    const known = new Set(['workflow', 'CPEWF_TASK_ID', ...tasks.map((task) => task.taskReferenceName)])
    const check = (where: string, value: JsonObject): void => {
      for (const root of referencesIn(value))
        if (!known.has(root))
          this.#refuse(where, `an expression names "${root}", which is not one of its tasks`)
    }
    for (const { taskReferenceName, inputParameters } of tasks) check(taskReferenceName, inputParameters)
    check('outputParameters', this.#document.outputParameters)
  }

  #refuse(where: string, why: string): void {
    this.problems.push(`${where}: ${why}`)
  }
}

function baseOf({ taskReferenceName, inputParameters, optional }: WorkflowTask, place: Place): UnitBase {
  const { before: after, onlyIn } = place
  return {
    ...{ taskReferenceName, inputParameters, after },
    ...(onlyIn === undefined ? {} : { onlyIn }),
    ...(optional === true ? { optional } : {}),
  }
}

/** A unit that does nothing: it has no variables to set. */
function nothing(base: UnitBase, shownAs: NonNullable<SetUnit['shownAs']>): SetUnit {
  return { ...base, inputParameters: {}, type: 'SET_VARIABLE', shownAs }
}

function nameOf(written: unknown): string {
  const { name } = (typeof written === 'object' && written !== null ? written : {}) as { name?: unknown }
  return typeof name === 'string' ? name : ''
}

function invalid(name: string, problems: readonly string[]): InvalidError {
  return new InvalidError(
    'engine/bad-workflow',
    `run the workflow definition "${name}" on this engine: ${problems.join('; ')}`,
    { details: { problems }, next: 'Correct the definition, or run it on a Conductor server.' },
  )
}
