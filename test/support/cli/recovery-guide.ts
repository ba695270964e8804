// A page of the runbook as one document that can be run: for each way out, its "Try it" brings the situation about, and the way follows.
import { readText } from '../source-tree.ts'

interface Looked {
  readonly situation: string
  /** Unset where the branch does not exist. */
  readonly head: string | undefined
  readonly headParent: string | undefined
  readonly input: string | undefined
  readonly output: string | undefined
  readonly workflow: string | undefined
  readonly task: string | undefined
}

/** What `perago recover` said before a way was taken, after it, and in the end of the branch. */
export interface Taken {
  readonly leadsTo: string
  readonly before: Looked
  readonly after: Looked
  readonly end: Looked
}

interface Document {
  readonly text: string
  readonly leadsTo: readonly string[]
}

const ANY_BLOCK = /^(?:<!-- (run.*) -->\n+)?```sh\n([\s\S]*?)\n```$/gm
const LEADS_TO = / +# leads to (\S+)$/m

/** While `busy` is there, what the way has started does not end. */
export function composeRecovery(situation: string): Document {
  const [ways = '', tryIt = ''] = readText(`docs/guides/recovery/${situation}.md`).split('\n## Try it\n')
  const steps = blocksOf(tryIt)
  const serves = steps.filter(({ how }) => how === 'run: serves').map(({ commands }) => commands)
  const makes = steps.filter(({ how }) => how === 'run').map(({ commands }) => commands)
  const out = blocksOf(ways).filter(({ commands }) => LEADS_TO.test(commands))
  const isOfBranch = out.some(({ commands }) => commands.includes('"$REPOSITORY/$BRANCH"'))
  const lookedAt = look(isOfBranch ? '"$REPOSITORY/$BRANCH"' : '"$WORKFLOW" ${ROOT:+--root "$ROOT"}')
  const runs = out.flatMap(({ commands }) => [
    ...makes,
    `${lookedAt}; touch busy`,
    commands,
    `${lookedAt}; rm busy`,
    ...(serves.length > 1 ? [] : ["until npx perago ps | grep -q 'nothing runs'; do sleep 1; done"]),
    look('weather/main'),
  ])
  const text = [
    ...serves.map((each) => block('run: serves', each)),
    ...runs.map((each) => block('run', each)),
  ]
  return {
    text: text.join('\n'),
    leadsTo: out.map(({ commands }) => LEADS_TO.exec(commands)?.[1] ?? ''),
  }
}

export function readTaken(printed: string, { leadsTo }: Document): readonly Taken[] {
  const looked = [...printed.matchAll(/^looked: (.+)$/gm)].map(([, text = '']) => readLooked(text))
  return leadsTo.map((each, index) => {
    const [before, after, end] = looked.slice(3 * index)
    if (before === undefined || after === undefined || end === undefined)
      throw new Error(`not looked at in the end: ${printed}`)
    return { leadsTo: each, before, after, end }
  })
}

function blocksOf(text: string): readonly { readonly how: string | undefined; readonly commands: string }[] {
  return [...text.matchAll(ANY_BLOCK)].map(([, how, commands = '']) => ({ how, commands }))
}

const block = (how: string, commands: string): string => `<!-- ${how} -->\n\`\`\`sh\n${commands}\n\`\`\`\n`

/** An undecided situation is exit code 3. */
const look = (target: string): string =>
  `echo "looked: $(npx perago recover ${target} --json | tr -d '\\n' || true)"`

function readLooked(text: string): Looked {
  const { branches } = JSON.parse(text) as {
    readonly branches: readonly {
      readonly situation: string
      readonly head?: { readonly ref: string; readonly parents: readonly string[] }
      readonly input_ref?: string
      readonly output_ref?: string
      readonly task?: { readonly workflow_id: string; readonly status: string }
    }[]
  }
  const [only] = branches
  if (only === undefined || branches.length > 1) throw new Error(`not one branch: ${text}`)
  const { situation, head, input_ref: input, output_ref: output, task } = only
  const [headParent] = head?.parents ?? []
  const of = { workflow: task?.workflow_id, task: task?.status }
  return { situation, head: head?.ref, headParent, input, output, ...of }
}
