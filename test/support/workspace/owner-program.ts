// A worker that opens a root, lays out one workspace, says where, and waits to be killed.
import { layOut } from '../../../src/workspace/laying-out/lay-out.ts'
import { openWorkspaceRoot } from '../../../src/workspace/ownership/ownership.ts'
import { memorySource } from './memory-source.ts'

const [directory = ''] = process.argv.slice(2)
const root = await openWorkspaceRoot({ directory, workerId: 'child' })
const attempt = { workflowId: 'w', taskId: 't', retryCount: 0, pollCount: 1, workerId: 'child' }
const workspace = await layOut({ root, attempt, source: memorySource({ a: 'content' }), spec: {} })
process.stdout.write(`${JSON.stringify({ token: root.token, dir: workspace.dir })}\n`)
setInterval(() => undefined, 60_000)
