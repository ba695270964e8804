// The guides on webhooks: they show the receivers of examples/, and their commands run.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openProject, type Project } from './support/cli/command.ts'
import { runGuide } from './support/cli/guide.ts'
import { readText } from './support/source-tree.ts'

const GUIDES: Readonly<Record<string, readonly string[]>> = {
  'docs/guides/tell-another-system.md': ['examples/webhooks/receive.mjs', 'examples/webhooks/notify.mjs'],
  'docs/guides/start-a-workflow-elsewhere.md': ['examples/webhooks/start-workflow.mjs'],
  'docs/guides/feed-monitoring-and-alerts.md': ['examples/webhooks/watch.mjs'],
}
/** In place of the reader's own program. */
const PIPELINE = 'examples/webhooks/pipeline.mjs'
const TEST_MS = 150_000

async function openGuideProject(): Promise<Project> {
  const project = await openProject()
  onTestFinished(() => project.close())
  return project
}

test.each(Object.entries(GUIDES))('E-109 %s shows its receiver as it is, and is listed', (page, examples) => {
  const shown = [...readText(page).matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
  expect(shown).toEqual(examples.map((path) => readText(path)))
  expect(readText(page)).toContain(`node ${PIPELINE} orders-1`)
  for (const list of ['docs/README.md', 'docs/reference/webhooks.md', 'examples/webhooks/README.md']) {
    expect(readText(list)).toContain(page.replace('docs/', ''))
  }
})

test(
  'E-109 a downstream system is told of pipelines that have completed, by the commands of the guide',
  async () => {
    const project = await openGuideProject()
    // `pipeline.mjs` takes the place of the reader's own program.
    const printed = await runGuide('docs/guides/tell-another-system.md', { project })
    expect(printed).toContain('orders-2 failed\n')
    const told = await readFile(join(project.directory, 'downstream.log'), 'utf8')
    expect(told.trim().split('\n').sort()).toEqual([
      'orders-1 pipeline.completed',
      'orders-3 pipeline.completed',
    ])
  },
  TEST_MS,
)

test(
  'E-109 monitoring is fed with counters and failures are written down, by the commands of the guide',
  async () => {
    const project = await openGuideProject()
    const printed = await runGuide('docs/guides/feed-monitoring-and-alerts.md', { project })
    expect(printed).toContain('perago_events_total{type="pipeline.started"} 2\n')
    expect(printed).toContain('perago_events_total{type="pipeline.completed"} 1\n')
    expect(printed).toContain('perago_events_total{type="pipeline.failed"} 1\n')
    const alerts = await readFile(join(project.directory, 'alerts.log'), 'utf8')
    const failures = alerts.trim().split('\n')
    expect(failures.map((line) => line.split(' ').slice(1).join(' ')).sort()).toEqual([
      'orders-2 extract.failed',
      'orders-2 pipeline.failed',
    ])
  },
  TEST_MS,
)
