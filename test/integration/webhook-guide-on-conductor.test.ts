// The guide that starts a workflow for each pipeline that has completed, on a real Conductor.
import { expect, onTestFinished, test } from 'vitest'
import { openProject } from '../support/cli/command.ts'
import { runGuide } from '../support/cli/guide.ts'
import { useRealServer } from '../support/servers/servers.ts'

const TEST_MS = 180_000

const conductor = useRealServer('conductor')

test(
  'E-109 a workflow outside is started by a pipeline that has completed, by the commands of the guide',
  async (context) => {
    const { url } = conductor(context)
    const project = await openProject()
    onTestFinished(() => project.close())
    const printed = await runGuide('docs/guides/start-a-workflow-elsewhere.md', {
      project,
      environment: { CONDUCTOR_SERVER_URL: `${url}/api` },
    })
    const [, started = '[]'] = /^(\[\{.*\}\])/m.exec(printed) ?? []
    expect(JSON.parse(started)).toMatchObject([
      { workflowName: 'refresh_report', correlationId: 'orders-1', input: { execution_id: 'orders-1' } },
    ])
  },
  TEST_MS,
)
