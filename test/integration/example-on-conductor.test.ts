// The example as the containers start it: everything made ready by its own program, and its tasks by `perago start`.
import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { branchName, repositoryName } from '../../src/base/ids.ts'
import { startEmbeddedLakefs } from '../../src/embedded/lakefs/server.ts'
import { createLakefsClient } from '../../src/lakefs/client.ts'
import { openLakefsRepo } from '../../src/lakefs/versioned-repo.ts'
import { openProject } from '../support/cli/command.ts'
import { askJson } from '../support/servers/http.ts'
import { useRealServer } from '../support/servers/servers.ts'
import { PROJECT_ROOT } from '../support/source-tree.ts'

const BEGIN = 'examples/orders-etl/begin.mjs'
const TASKS = 'examples/orders-etl/tasks.ts'
const TEST_MS = 240_000
const WORK_MS = 120_000

const conductor = useRealServer('conductor')

test(
  'EX-06 one program makes all ready and starts the day, and a worker publishes it, one commit for each task',
  async (context) => {
    const { url } = conductor(context)
    const lakefs = await startEmbeddedLakefs()
    onTestFinished(() => lakefs.close())
    const project = await openProject()
    onTestFinished(() => project.close())
    // The command by its name, as an installed package has it.
    const programs = join(project.directory, 'bin')
    await mkdir(programs)
    await symlink(join(PROJECT_ROOT, 'dist/cli/main.js'), join(programs, 'perago'))
    const environment = {
      PATH: [programs, dirname(process.execPath), process.env.PATH].join(delimiter),
      CONDUCTOR_SERVER_URL: `${url}/api`,
      LAKEFS_ENDPOINT: lakefs.url,
      LAKEFS_ACCESS_KEY_ID: lakefs.accessKeyId,
      LAKEFS_SECRET_ACCESS_KEY: lakefs.secretAccessKey,
    }
    const { stdout } = await promisify(execFile)(process.execPath, [BEGIN, '2026-01-15'], {
      cwd: PROJECT_ROOT,
      env: environment,
      timeout: WORK_MS,
    })
    expect(stdout).toContain('made repository orders\n')
    const [, workflowId = ''] = /^started orders\.daily for 2026-01-15 as (\S+)$/m.exec(stdout) ?? []
    expect(workflowId).not.toBe('')

    const worker = project.start(['start', join(PROJECT_ROOT, TASKS)], environment)
    expect(await worker.firstLine).toMatch(/^ready 1 worker/)
    const read = async (): Promise<unknown> => (await askJson(`${url}/api/workflow/${workflowId}`)).body
    await expect.poll(read, { timeout: WORK_MS, interval: 500 }).toMatchObject({
      status: 'COMPLETED',
      output: { summary: { day: '2026-01-15' } },
    })
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)

    const client = createLakefsClient({ ...lakefs, endpoint: lakefs.url })
    onTestFinished(() => client.close())
    const repo = openLakefsRepo(client, repositoryName('orders'))
    const tasks: unknown[] = []
    for await (const { metadata } of repo.log(branchName('main'))) tasks.push(metadata['publish.task'])
    expect(tasks).toEqual(['aggregate', 'validate', 'ingest', undefined])
  },
  TEST_MS,
)
