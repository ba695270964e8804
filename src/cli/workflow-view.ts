/** Shows a workflow that is followed: to people as a tree that is drawn anew, to programs as a line for each change. */

import { printableJson } from '../base/one-line.ts'
import { openLiveView, type Screen } from './live-view.ts'
import { describeTask, renderHeading, renderProgress } from './progress.ts'
import type { Style } from './terminal.ts'
import { workflowsOf, type WorkflowTree } from './workflow-tree.ts'

export interface WorkflowView {
  show(tree: WorkflowTree): void
  warn(warning: string): void
  close(): void
}

/** The terminal behind a stream; `undefined`: there is none. */
export function screenOf(stream: NodeJS.WriteStream): Screen | undefined {
  // It is absent, not false, where the stream is no terminal.
  if (!stream.isTTY || process.env['TERM'] === 'dumb') return undefined
  return {
    write: (text) => void stream.write(text),
    size: () => ({ columns: stream.columns || 80, rows: stream.rows || 24 }),
    onResize(listener) {
      stream.on('resize', listener)
      return () => void stream.off('resize', listener)
    },
  }
}

export function drawWorkflow(screen: Screen, style: Style): WorkflowView {
  const view = openLiveView(screen)
  return {
    show(tree) {
      const lines = [
        renderHeading(tree.workflow),
        ...renderProgress(tree, Date.now()).split('\n').slice(0, -1),
      ]
      view.draw(lines)
    },
    warn: (warning) => view.keep(style.bad(warning)),
    close: () => view.close(),
  }
}

export function listChanges(write: (text: string) => void): WorkflowView {
  const told = new Map<string, string>()
  const tell = (id: string, line: string): void => {
    if (told.get(id) === line) return
    told.set(id, line)
    write(`${line}\n`)
  }
  return {
    show(tree) {
      for (const { workflowId, name, status, parentId, tasks } of workflowsOf(tree)) {
        const parent = parentId === undefined ? {} : { parent_id: parentId }
        tell(workflowId, printableJson({ workflow_id: workflowId, name, workflow_status: status, ...parent }))
        for (const task of tasks) tell(task.taskId, printableJson(describeTask(task)))
      }
    },
    warn: (warning) => write(`${printableJson({ warning })}\n`),
    close: () => undefined,
  }
}
