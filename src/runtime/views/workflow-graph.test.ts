import { expect, test } from 'vitest'
import { compileDocument } from '../../engine/definitions/compile-document.ts'
import { graphOfSteps, graphOfUnits, nodeOf, withForked, type WorkflowGraph } from './workflow-graph.ts'

const step = (taskReferenceName: string, more: object = {}) => ({
  name: `t.${taskReferenceName}`,
  taskReferenceName,
  ...more,
})
const drawn = ({ edges }: WorkflowGraph): readonly string[] =>
  edges.map(({ from, to, label }) => `${from} ${label === undefined ? '' : `(${label}) `}→ ${to}`)

test('DO-142 a definition of Conductor is drawn whole: forks, cases, loops and what follows them', () => {
  const graph = graphOfSteps([
    step('first'),
    step('fork', { type: 'FORK_JOIN', forkTasks: [[step('left'), step('left2')], [step('right')]] }),
    step('join', { type: 'JOIN', joinOn: ['left2', 'right'] }),
    step('which', {
      type: 'SWITCH',
      decisionCases: { big: [step('split')], none: [step('stop', { type: 'TERMINATE' })] },
    }),
    step('again', { type: 'DO_WHILE', loopOver: [step('look'), step('wait', { type: 'WAIT' })] }),
    step('last', { type: 'SUB_WORKFLOW' }),
  ])
  expect(drawn(graph)).toEqual([
    ...['first → fork', 'fork → left', 'left → left2', 'fork → right', 'left2 → join', 'right → join'],
    ...['join → which', 'which (big) → split', 'which (none) → stop'],
    ...['split → again', 'which (default) → again', 'again → look', 'look → wait', 'wait → last'],
  ])
  expect(graph.nodes.find(({ referenceName }) => referenceName === 'look')).toEqual({
    ...{ referenceName: 'look', name: 't.look', kind: 'SIMPLE', inside: 'again' },
  })
  expect(
    graphOfSteps([{ nonsense: 1 }, step('a'), step('b', { decisionCases: 7, forkTasks: 'x' })]).nodes,
  ).toHaveLength(2)
})

test('DO-142 a pipeline of the engine is drawn with its loops and cases', () => {
  const { graph } = compileDocument({
    name: 'p',
    units: {
      head: { task: 't.head' },
      each: {
        after: ['head'],
        each: [1, 2],
        max: 3,
        units: { day: { task: 't.day' }, sum: { task: 't.sum', after: ['day'] } },
      },
      done: { human: {}, after: ['each'] },
    },
  })
  const shown = graphOfUnits(graph!)
  expect(drawn(shown)).toEqual(['head → each', 'each → day', 'day → sum', 'sum → done'])
  expect(shown.nodes).toContainEqual({ referenceName: 'sum', name: 't.sum', kind: 'SIMPLE', inside: 'each' })
})

test('DO-142 what a dynamic fork has made is drawn between it and its join', () => {
  const graph = graphOfSteps([step('fork', { type: 'FORK_JOIN_DYNAMIC' }), step('join', { type: 'JOIN' })])
  const whole = withForked(graph, [{ fork: 'fork', forked: ['a', 'b'] }], (name) => ({
    name: `t.${name}`,
    kind: 'SIMPLE',
  }))
  expect(drawn(whole)).toEqual(['fork → a', 'a → join', 'fork → b', 'b → join'])
  expect(drawn(withForked(graph, [], () => ({ name: '', kind: '' })))).toEqual(['fork → join'])
})

test('DO-142 a task of an iteration belongs to the node of its step', () => {
  const nodes = new Set(['look', 'odd__2'])
  expect(['look__3', 'look', 'odd__2', 'else__1'].map((name) => nodeOf(nodes, name))).toEqual([
    ...['look', 'look', 'odd__2', 'else__1'],
  ])
})
