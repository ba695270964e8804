// Goal: what perago takes for the server's defaults is what a real server fills in.
import { randomUUID } from 'node:crypto'
import { describe, expect, test, type TestContext } from 'vitest'
import { openConductorClient } from '../../src/conductor/client.ts'
import type { TaskDef } from '../../src/conductor/definition-diff.ts'
import { createDefinitionRegistry, type DefinitionRegistry } from '../../src/conductor/definitions.ts'
import { createHttpTaskQueue } from '../../src/conductor/http-task-queue.ts'
import type { RealServer } from '../support/servers/real-server.ts'
import { conductorControl } from './conductor-control.ts'

const name = (what: string): string => `co_${randomUUID().slice(0, 8)}_${what}`

export function definitionConformance(conductor: (context: TestContext) => RealServer): void {
  describe('Conductor holds definitions', () => {
    const withRegistry = async (
      context: TestContext,
      use: (registry: DefinitionRegistry, url: string) => Promise<void>,
    ): Promise<void> => {
      const { url } = conductor(context)
      const client = openConductorClient({ endpoint: url })
      try {
        await use(createDefinitionRegistry(client), url)
      } finally {
        await client.close()
      }
    }

    test('CO-83 a task definition is created, kept, replaced, and kept again', async (context) => {
      await withRegistry(context, async (registry) => {
        const declared = { name: name('t'), retryCount: 1, ownerEmail: 'perago@example.org' }
        const create = await registry.planTaskDef(declared)
        expect(create.action).toBe('create')
        expect(await registry.readTaskDef(declared.name)).toBeUndefined()
        await registry.applyTaskDef(create)
        expect((await registry.planTaskDef(declared)).action).toBe('keep')
        const changed = {
          ...declared,
          retryCount: 4,
          retryLogic: 'EXPONENTIAL_BACKOFF',
          timeoutPolicy: 'RETRY',
          responseTimeoutSeconds: 60,
          maxRetryDelaySeconds: 120,
          backoffJitterMs: 2000,
          inputTemplate: { k: { deep: [1, 'x'] } },
        } as const
        const update = await registry.planTaskDef(changed)
        expect(update).toMatchObject({ action: 'update' })
        expect('changes' in update && update.changes).toContainEqual({
          field: 'retryCount',
          registered: 1,
          declared: 4,
        })
        await registry.applyTaskDef(update)
        expect((await registry.planTaskDef(changed)).action).toBe('keep')
        await registry.applyTaskDef(await registry.planTaskDef(declared))
        expect((await registry.planTaskDef(declared)).action).toBe('keep')
      })
    })

    test('CO-86 an update of a task definition leaves the schemas that others have registered', async (context) => {
      await withRegistry(context, async (registry, url) => {
        const declared = { name: name('t'), retryCount: 1, ownerEmail: 'perago@example.org' }
        const inputSchema = {
          name: `${declared.name}_input`,
          version: 1,
          type: 'JSON',
          data: { type: 'object' },
        }
        const answer = await fetch(`${url}/api/metadata/taskdefs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify([{ ...declared, inputSchema }]),
        })
        expect(answer.status).toBe(200)
        await registry.applyTaskDef(await registry.planTaskDef({ ...declared, retryCount: 4 }))
        const registered = await registry.readTaskDef(declared.name)
        expect(registered).toMatchObject({ retryCount: 4, inputSchema: { data: { type: 'object' } } })
      })
    })

    test('CO-110 declared schemas are stored with a task definition, kept, and replaced when they change', async (context) => {
      await withRegistry(context, async (registry) => {
        const task = { name: name('t'), ownerEmail: 'perago@example.org' }
        const declare = (type: string): TaskDef => {
          const schema = { name: `${task.name}.input`, version: 1, type: 'JSON', data: { type } }
          return { ...task, inputSchema: schema, outputSchema: schema }
        }
        for (const type of ['object', 'array']) {
          const plan = await registry.planTaskDef(declare(type))
          expect(plan.action).toBe(type === 'object' ? 'create' : 'update')
          await registry.applyTaskDef(plan)
          expect((await registry.planTaskDef(declare(type))).action).toBe('keep')
        }
        const registered = await registry.readTaskDef(task.name)
        expect(registered).toMatchObject({ outputSchema: { data: { type: 'array' } } })
      })
    })

    /** A task type that is registered, and a workflow over it that is not. */
    const declareWorkflow = async (registry: DefinitionRegistry) => {
      const taskType = name('t')
      await registry.applyTaskDef(await registry.planTaskDef({ name: taskType }))
      const declared = {
        name: name('w'),
        version: 2,
        tasks: [
          { name: taskType, taskReferenceName: 'a', inputParameters: { x: '${workflow.input.x}' } },
          {
            name: 's',
            taskReferenceName: 's',
            type: 'SWITCH',
            evaluatorType: 'value-param',
            expression: 'k',
            inputParameters: { k: '${a.output.k}' },
            decisionCases: { yes: [{ name: taskType, taskReferenceName: 'b' }] },
          },
        ],
        outputParameters: { r: '${a.output}' },
      }
      return { taskType, declared }
    }

    test('CO-83 a workflow definition is created, kept, replaced, and kept again', async (context) => {
      await withRegistry(context, async (registry) => {
        const { declared } = await declareWorkflow(registry)
        const create = await registry.planWorkflowDef(declared)
        expect(create.action).toBe('create')
        await registry.applyWorkflowDef(create)
        expect((await registry.planWorkflowDef(declared)).action).toBe('keep')
        // Created by somebody else meanwhile.
        await expect(registry.applyWorkflowDef(create)).rejects.toMatchObject({ kind: 'refused' })
        const changed = { ...declared, timeoutSeconds: 600, timeoutPolicy: 'TIME_OUT_WF' } as const
        const update = await registry.planWorkflowDef(changed)
        expect('changes' in update && update.changes.map(({ field }) => field)).toEqual([
          'timeoutPolicy',
          'timeoutSeconds',
        ])
        await registry.applyWorkflowDef(update)
        expect((await registry.planWorkflowDef(changed)).action).toBe('keep')
      })
    })

    test('CO-84 a workflow is started with its input and terminated with a reason, repeatedly', async (context) => {
      await withRegistry(context, async (registry, url) => {
        const { taskType, declared } = await declareWorkflow(registry)
        await expect(registry.startWorkflow({ name: declared.name })).rejects.toMatchObject({
          kind: 'missing',
        })
        await registry.applyWorkflowDef(await registry.planWorkflowDef(declared))
        const workflowId = await registry.startWorkflow({
          name: declared.name,
          input: { x: [1] },
          correlationId: 'c',
          priority: 3,
        })
        const client = openConductorClient({ endpoint: url })
        const [task] = await createHttpTaskQueue(client).poll({
          taskType,
          workerId: 'w',
          count: 1,
          waitMs: 2_000,
        })
        await client.close()
        expect(task).toMatchObject({ workflowId, input: { x: [1] }, correlationId: 'c' })
        const control = conductorControl(url)
        for (let times = 0; times < 2; times++) {
          await registry.terminateWorkflow(workflowId, 'not wanted')
          expect(await control.readWorkflow(workflowId)).toMatchObject({
            status: 'TERMINATED',
            reasonForIncompletion: 'not wanted',
          })
        }
        await control.remove(workflowId)
        await registry.terminateWorkflow(workflowId, 'gone')
      })
    })

    test('CO-85 version and health can be asked for', async (context) => {
      await withRegistry(context, async (registry) => {
        expect(await registry.readVersion()).toMatch(/^\d+\.\d+\.\d+/)
        expect(await registry.isHealthy()).toBe(true)
      })
    })
  })
}
