// What the types of plans promise: the members of both surfaces, and what must not compile.
import { beforeAll, expect, test } from 'vitest'
import { Plan, PLAN_EXTRAS } from '../../src/perago-engine.ts'
import { compileSnippets, describeTypes, type DescribedMethod } from '../support/type-check.ts'

const ENTRY = 'src/perago-engine.ts'
const SURFACE = [
  ...['Run', 'Add', 'Status', 'Release', 'TaskStatus', 'TaskData'],
  ...['Subscribe', 'Get', 'Set', 'Del', 'Clear'],
]
const PRELUDE = `import { Plan, NewPlan, SharedSpaceDecisionMaker, time, type PlanStatus } from './src/perago-engine.ts'
declare const plan: Plan`

let described: ReadonlyMap<string, readonly DescribedMethod[]>
beforeAll(() => {
  described = describeTypes(ENTRY, ['SharedSpace', 'SharedSpaceExtras'])
}, 60_000)

test('P-112 the members of Plan are the eleven of the small surface and the listed extras', () => {
  const members = Object.getOwnPropertyNames(Plan.prototype).filter((name) => name !== 'constructor')
  expect(members.sort()).toEqual([...SURFACE, ...PLAN_EXTRAS].sort())
})

test('P-111 Plan has no pause, resume or stop', () => {
  const members = Object.getOwnPropertyNames(Plan.prototype).map((name) => name.toLowerCase())
  for (const absent of ['stop', 'pause', 'resume', 'start', 'cancel']) expect(members).not.toContain(absent)
})

test('P-128 the shared space has exactly seven members, extras apart', () => {
  const names = (type: string): string[] => [...new Set(described.get(type)?.map(({ name }) => name))].sort()
  expect(names('SharedSpace')).toEqual(
    ['Set', 'Get', 'Delete', 'Clear', 'ClearNotify', 'Subscribe', 'Unsubscribe'].sort(),
  )
  expect(names('SharedSpaceExtras')).toEqual(['Has', 'Keys', 'Trigger', 'UnsubscribeAll'])
})

test('P-114 P-91 one entry exports Plan and time, and the signatures are as promised', () => {
  const accepted = [
    `plan.Add('t', 1, 'a.b', 1, 'two', {})`,
    `export const status: { plan: PlanStatus; tasks: Record<string, PlanStatus> } = plan.Status()`,
    `export const one: PlanStatus = plan.TaskStatus('t')`,
    `export const run: Promise<void> = plan.Run()`,
    `export const slept: Promise<void> = time.Sleep(50)`,
    `plan.Subscribe('k', 'a.b', 1)`,
    `NewPlan('p').AddTask({ id: 't', order: 1, function: (context, space, signals) => [context.signal, space.Get('k'), signals.tryReceive()] })`,
  ]
  const refused = [
    `plan.Add('t', 'one', 'a.b')`,
    `plan.Add(1, 1, 'a.b')`,
    `plan.Stop()`,
    `export const wrong: PlanStatus = 'done'`,
    `plan.Subscribe('k', 5)`,
  ]
  const codes = compileSnippets([...accepted, ...refused].map((line) => `${PRELUDE}\n${line}`))
  expect(codes.slice(0, accepted.length)).toEqual(accepted.map(() => []))
  expect(codes.slice(accepted.length).every((found) => found.length > 0)).toBe(true)
}, 60_000)

test('P-161 the decision maker takes three required booleans', () => {
  const call = (fields: string): string => `${PRELUDE}\nSharedSpaceDecisionMaker({ ${fields} })`
  const all = 'needsCommunication: true, hasDependency: false, needsRealtime: true'
  const codes = compileSnippets([
    call(all),
    call('needsCommunication: true, hasDependency: false'),
    call(all.replace('true', '"yes"')),
  ])
  expect(codes.map((found) => found.length > 0)).toEqual([false, true, true])
}, 60_000)
