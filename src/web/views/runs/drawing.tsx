import { useMemo } from 'preact/hooks'
import { GraphView } from '../../parts/graph/graph-view.tsx'
import { Empty } from '../../parts/problem.tsx'
import { addressOf } from '../../route.ts'
import { type Run } from '../../parts/run-state.ts'
import { drawRun } from './run-graph.ts'

export function RunDrawing({ run }: { readonly run: Run }) {
  const { id, name, tasks } = run
  const graph = useMemo(
    () => drawRun(run, (task) => addressOf(['runs', id, 'tasks', ...(task === undefined ? [] : [task.id])])),
    [run],
  )
  if (graph.nodes.length === 0)
    return (
      <Empty run="npx perago doctor">
        It has no tasks yet. If that stays so, see whether a worker polls:
      </Empty>
    )
  return (
    <>
      <GraphView label={`Graph of ${name}`} graph={graph} />
      {graph.isGuessed && (
        <p class="faint">
          The definition is not known: the edges follow from when the {tasks.length} tasks ended and were
          scheduled.
        </p>
      )}
    </>
  )
}
