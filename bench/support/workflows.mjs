// Requests of a bench to Conductor: definitions, starts, and how each task ended by the server's record.
import { setTimeout as wait } from 'node:timers/promises'

const LOOK_MS = 20
const WAIT_MS = 1_200_000

export function openConductorRequests(url) {
  const ask = async (method, path, json) => {
    const answer = await fetch(`${url}/api${path}`, {
      method,
      headers: json === undefined ? {} : { 'content-type': 'application/json' },
      body: json === undefined ? undefined : JSON.stringify(json),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text
  }
  return {
    registerTasks: (taskDefs) => ask('POST', '/metadata/taskdefs', taskDefs),
    /**
     * A workflow that runs one task so many times in a row, each on what the one before it published, and each with a
     * seed of its own, see `seedOf`.
     */
    registerChain: (name, task, length, { hasWorkspace = true } = {}) =>
      ask('PUT', '/metadata/workflow', [
        {
          name,
          version: 1,
          schemaVersion: 2,
          ownerEmail: 'bench@example.org',
          timeoutSeconds: 0,
          timeoutPolicy: 'ALERT_ONLY',
          inputParameters: ['workspace', 'params'],
          tasks: Array.from({ length }, (_, index) => ({
            name: task,
            taskReferenceName: `step${index}`,
            type: 'SIMPLE',
            inputParameters: hasWorkspace
              ? stepInput(index)
              : { params: { seed: seedOf('${workflow.input.params.seed}', index) } },
          })),
        },
      ]),
    start: (name, input, { domain } = {}) =>
      ask('POST', '/workflow', {
        name,
        version: 1,
        input,
        ...(domain === undefined ? {} : { taskToDomain: { '*': domain } }),
      }),
    /** The workflow once it has completed; any other end is an error. */
    async ended(workflowId, { lookMs = LOOK_MS } = {}) {
      const deadline = performance.now() + WAIT_MS
      while (performance.now() < deadline) {
        const { status } = JSON.parse(await ask('GET', `/workflow/${workflowId}?includeTasks=false`))
        if (status !== 'RUNNING') {
          const workflow = JSON.parse(await ask('GET', `/workflow/${workflowId}`))
          if (status === 'COMPLETED') return workflow
          const reasons = workflow.tasks.map((task) => `${task.status}: ${task.reasonForIncompletion ?? ''}`)
          throw new Error(
            `workflow ${workflowId} is ${status} (${workflow.reasonForIncompletion}): ${reasons.join('; ')}`,
          )
        }
        await wait(lookMs)
      }
      throw new Error(`workflow ${workflowId} has not ended within ${WAIT_MS} ms`)
    },
  }
}

function stepInput(index) {
  return {
    workspace: index === 0 ? '${workflow.input.workspace}' : `\${step${index - 1}.output.workspace}`,
    params: {
      change: '${workflow.input.params.change}',
      seed: seedOf('${workflow.input.params.seed}', index),
      files: '${workflow.input.params.files}',
      sizeBytes: '${workflow.input.params.sizeBytes}',
    },
  }
}

/** The seed of one step: a step that wrote the same bytes again would change nothing. */
export function seedOf(seed, index) {
  return `${seed} step ${index}`
}

/** From the claim of the task until the server had its result, by the server's clock. */
export function taskMs(task) {
  return task.endTime - task.startTime
}

/** From the request of the workflow to its completion, and how long its first task waited, by the server's clock. */
export function workflowTimes({ createTime, startTime, endTime, tasks: [first] }) {
  const requestedMs = Math.min(createTime ?? startTime, startTime)
  return {
    endToEndMs: endTime - requestedMs,
    executionMs: taskMs(first),
    queueMs: first.startTime - first.scheduledTime,
  }
}
