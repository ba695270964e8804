/** The files of a new project, as text. */

export interface ProjectManifest {
  readonly version: string
  /** Where a project gets perago from, as npm names it. */
  readonly source: string
  readonly engines: { readonly node: string }
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

/** By their paths. `manifest` is that of perago: the project gets the versions that perago was tested with. */
export function projectFiles(name: string, manifest: ProjectManifest): Readonly<Record<string, string>> {
  return {
    'package.json': packageJson(name, manifest),
    'tsconfig.json': TSCONFIG,
    'tasks.ts': TASKS,
    'tasks.test.ts': TEST,
    'README.md': readme(name),
    '.gitignore': 'node_modules/\n.perago/\n*.log\n',
  }
}

function packageJson(name: string, { source, engines, dependencies, devDependencies }: ProjectManifest) {
  const pick = (from: Readonly<Record<string, string>>, names: readonly string[]) =>
    Object.fromEntries(names.map((each) => [each, from[each] ?? '*']))
  const document = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node: engines.node },
    scripts: {
      test: 'vitest run',
      types: 'tsc',
      check: 'perago check tasks.ts --offline',
      dev: 'perago dev tasks.ts --repository lake',
      start: 'perago start tasks.ts',
    },
    dependencies: { perago: source, ...pick(dependencies, ['zod']) },
    devDependencies: pick(devDependencies, ['@types/node', 'typescript', 'vitest']),
  }
  return `${JSON.stringify(document, undefined, 2)}\n`
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "lib": ["es2023"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "verbatimModuleSyntax": true,
    "erasableSyntaxOnly": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["*.ts"]
}
`

const TASKS = `import { writeFile } from 'node:fs/promises'
import { defineWorkflow, defineWorkspaceTask, maxBytes, requireGlob } from 'perago'
import { z } from 'zod'

const owner = 'data@example.org'

/** Writes the measurements of a day into a file. What the directory has at the end is published as one commit. */
export const record = defineWorkspaceTask({
  name: 'weather.record',
  owner,
  params: z.object({ day: z.iso.date(), celsius: z.array(z.number()).min(1) }),
  result: z.object({ rows: z.int(), mean: z.number() }),
  workspace: { prefix: 'weather', post: [requireGlob('*.csv'), maxBytes(1_000_000)] },
  body: async ({ workspace, params: { day, celsius } }) => {
    const lines = celsius.map((degrees, index) => \`\${index + 1},\${degrees}\\n\`)
    await writeFile(workspace.path(\`\${day}.csv\`), \`number,celsius\\n\${lines.join('')}\`)
    return { rows: celsius.length, mean: celsius.reduce((sum, degrees) => sum + degrees) / celsius.length }
  },
})

export const daily = defineWorkflow({
  name: 'weather.daily',
  owner,
  inputParameters: ['workspace', 'day', 'celsius'],
  steps: [
    {
      task: record,
      taskReferenceName: 'record',
      inputParameters: {
        workspace: '\${workflow.input.workspace}',
        params: { day: '\${workflow.input.day}', celsius: '\${workflow.input.celsius}' },
      },
    },
  ],
})
`

const TEST = `import { tryEveryCrash } from 'perago/testing'
import { expect, test } from 'vitest'
import { record } from './tasks.ts'

test('wherever it is killed, the day is published once and nothing else is lost', async () => {
  const figures = await tryEveryCrash({
    task: record,
    params: { day: '2026-01-15', celsius: [4, 8, 6] },
    files: { 'weather/2026-01-14.csv': 'number,celsius\\n1,5\\n' },
    check: ({ files, result }) => {
      expect(result).toEqual({ rows: 3, mean: 6 })
      expect(files['weather/2026-01-15.csv']).toBe('number,celsius\\n1,4\\n2,8\\n3,6\\n')
      expect(files['weather/2026-01-14.csv']).toBe('number,celsius\\n1,5\\n')
    },
  })
  expect(figures.isEveryPointTried).toBe(true)
}, 120_000)
`

function readme(name: string): string {
  return `# ${name}

A task (\`weather.record\`), a workflow (\`weather.daily\`) and a test, for [perago](https://www.npmjs.com/package/perago).

\`npm install\` first. Then the test, which kills the task at every point; it needs no server:

\`\`\`sh
npm test
\`\`\`

An engine, a lakeFS and a worker on this machine; leave it running:

\`\`\`sh
npx perago dev tasks.ts --repository lake
\`\`\`

and in a second terminal the workflow, which publishes one commit:

\`\`\`sh
npx perago run weather.daily --repo lake --branch main --input '{"day": "2026-01-15", "celsius": [4, 8, 6]}'
\`\`\`

\`npm run types\` checks the types, \`npm run check\` the definitions. \`npx perago help\` shows the other commands.
`
}
