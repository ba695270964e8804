/** What a commit says of its publication, in words; and all its metadata. */

import { Fragment, type ComponentChildren } from 'preact'
import { State } from '../../parts/state.tsx'
import { toBranch, toCommit, toRun } from './addresses.ts'
import type { Publication } from './publication.ts'

const LABELS: Readonly<Record<string, string>> = {
  'publish.run': 'Execution',
  'publish.input': 'Input commit',
  'publish.workflow': 'Workflow',
  'publish.task': 'Task',
  'publish.task_name': 'Task definition',
  'publish.workflow_name': 'Workflow definition',
  'publish.iteration': 'Iteration',
  'publish.task_id': 'Task id',
  'publish.attempt': 'Retry count',
  'publish.worker': 'Worker',
  'publish.actor': 'Actor',
  'publish.code_version': 'Code revision',
  'publish.repository': 'Repository',
  'publish.branch': 'Branch',
  'publish.ledger': 'Ledger version',
  'publish.result': 'Result',
  'publish.result_ref': 'Result is in commit',
  'publish.result_sha256': 'SHA-256 of the result',
  'publish.result_left_out': 'No result, because',
  'publish.checksum': 'Checksum of the ledger',
  'publish.signature': 'Signature',
  'publish.expected_head': 'Head that lakeFS compared',
  'publish.claim': 'Branch moves to',
  'publish.replaces': 'In place of',
  'publish.evidence': 'Refusal',
}
const COMMITS = new Set(
  ['input', 'result_ref', 'expected_head', 'claim', 'replaces'].map((key) => `publish.${key}`),
)

export function Facts({
  repository,
  publication,
}: {
  readonly repository: string
  readonly publication: Publication
}) {
  const { by, task, attempt, worker, actor, workflow, workflowName, codeVersion, branch, refusal } =
    publication
  return (
    <>
      {refusal !== undefined && (
        <>
          <dt>Refused</dt>
          <dd>
            <State state="refused" /> <code>{refusal.code}</code> {refusal.message}
          </dd>
        </>
      )}
      {actor !== undefined && <Fact name="Actor">{actor}</Fact>}
      {task !== undefined && (
        <Fact name={by === 'actor' ? 'Subject' : 'Task'}>
          {task}
          {attempt !== undefined && <span class="faint"> attempt {attempt}</span>}
        </Fact>
      )}
      {workflow !== undefined && (
        <Fact name="Run">
          {workflowName !== undefined && `${workflowName} `}
          <a href={toRun(workflow)}>{workflow}</a>
        </Fact>
      )}
      {worker !== undefined && <Fact name="Worker">{worker}</Fact>}
      {codeVersion !== undefined && <Fact name="Code revision">{codeVersion}</Fact>}
      {branch !== undefined && (
        <Fact name="Published to">
          <a href={toBranch(repository, branch)}>{branch}</a>
          {publication.isFenced && <span class="faint"> under the hard fence</span>}
        </Fact>
      )}
    </>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

export function Metadata({
  repository,
  metadata,
}: {
  readonly repository: string
  readonly metadata: Readonly<Record<string, string>>
}) {
  const order = Object.keys(LABELS)
  const rankOf = (key: string): number => (order.includes(key) ? order.indexOf(key) : order.length)
  const entries = Object.entries(metadata).sort(
    ([one], [other]) => rankOf(one) - rankOf(other) || (one < other ? -1 : 1),
  )
  if (entries.length === 0) return null
  return (
    <details class="group">
      <summary>
        All metadata <span class="count">{entries.length}</span>
      </summary>
      <dl class="facts">
        {entries.map(([key, value]) => (
          <Fragment key={key}>
            <dt>
              {Object.hasOwn(LABELS, key) ? <span title={key}>{LABELS[key]}</span> : <code>{key}</code>}
            </dt>
            <dd>
              <Value {...{ repository, name: key, value }} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </details>
  )
}

function Value({
  repository,
  name,
  value,
}: {
  readonly repository: string
  readonly name: string
  readonly value: string
}) {
  if (COMMITS.has(name)) return <a href={toCommit(repository, value)}>{value}</a>
  if (name === 'publish.workflow') return <a href={toRun(value)}>{value}</a>
  if (name === 'publish.branch') return <a href={toBranch(repository, value)}>{value}</a>
  const pretty = value.startsWith('{') || value.startsWith('[') ? indented(value) : undefined
  return pretty === undefined ? <>{value}</> : <pre tabIndex={0}>{pretty}</pre>
}

function indented(text: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return undefined
  }
}
