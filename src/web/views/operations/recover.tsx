/** What became of a publication, and what may be done about it: as `perago recover` says it. */

import { useState } from 'preact/hooks'
import { post, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Crumbs } from '../../parts/crumbs.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { addressOf } from '../../route.ts'
import { mayOperate } from '../../session.ts'

type Preview = Schemas['RecoveryPreview']
type Examined = Preview['branches'][number]
type Offer = Examined['offered'][number]

export interface RecoverProps {
  readonly repository?: string
  readonly branch?: string
  readonly workflow?: string
}

export function Recover({ repository, branch, workflow }: RecoverProps) {
  const target: Schemas['RecoveryTarget'] =
    workflow === undefined ? { ...(branch !== undefined && { branch }) } : { workflow_id: workflow }
  const isNamed = repository !== undefined && (branch ?? workflow) !== undefined
  const { data, error, reload } = useLoaded(
    (signal) =>
      isNamed
        ? post('/repositories/{repository}/recoveries/preview', {
            path: { repository },
            body: target,
            signal,
          })
        : Promise.resolve(undefined),
    [repository, branch, workflow],
  )
  return (
    <>
      <Crumbs way={[{ text: 'Operations', to: addressOf(['operations']) }, { text: 'Recover' }]} />
      <h1>Recover{isNamed && ` ${repository}${branch === undefined ? '' : `/${branch}`}`}</h1>
      {isNamed && workflow !== undefined && (
        <p>
          What became of what <a href={addressOf(['runs', workflow])}>the run {workflow.slice(0, 8)}</a>{' '}
          published, and what may be done about it.
        </p>
      )}
      <Problem error={error} retry={reload} />
      {!isNamed ? (
        <Empty>The address names no branch and no workflow.</Empty>
      ) : data === undefined ? (
        error === undefined && <Loading />
      ) : data.branches.length === 0 ? (
        <Empty>No publication is known there.</Empty>
      ) : (
        data.branches.map((examined) => (
          <Branch key={examined.branch} {...{ examined, repository, target, digest: data.digest, reload }} />
        ))
      )}
    </>
  )
}

interface BranchProps {
  readonly examined: Examined
  readonly repository: string
  readonly target: Schemas['RecoveryTarget']
  readonly digest: string
  readonly reload: () => void
}

function Branch(props: BranchProps) {
  const { examined, repository } = props
  const { branch, says, situation, is_normal, task, staged, other_workflows, offered } = examined
  return (
    <article class="card">
      <h2>
        <a href={addressOf(['data', repository, 'branches', branch])}>{branch}</a>{' '}
        <State state={is_normal ? 'ok' : 'warn'} title={situation} />
      </h2>
      <p>{says}</p>
      <dl class="facts">
        <CommitFact {...{ title: 'Input', repository, id: examined.input_ref }} />
        <CommitFact {...{ title: 'Head', repository, id: examined.head, text: examined.head_message }} />
        <CommitFact {...{ title: 'Output', repository, id: examined.output_ref }} />
        {task !== undefined && (
          <>
            <dt>Task</dt>
            <dd>
              <a href={addressOf(['runs', task.workflow_id, 'tasks', task.task_id])}>{task.reference_name}</a>
              , try {task.attempt + 1} <State state={task.status} />
            </dd>
          </>
        )}
        {staged !== undefined && (
          <>
            <dt>Refused</dt>
            <dd>
              {staged.why} <code>{staged.code}</code>, kept on <code>{staged.branch}</code>
            </dd>
          </>
        )}
        {other_workflows.length > 0 && (
          <>
            <dt>Also running</dt>
            <dd>
              {other_workflows.map((id) => (
                <a key={id} class="also" href={addressOf(['runs', id])} title={id}>
                  {id.slice(0, 8)}
                </a>
              ))}
            </dd>
          </>
        )}
      </dl>
      {offered.length === 0 ? (
        <p class="faint">
          {other_workflows.length === 0
            ? 'Nothing is to be done here.'
            : 'Nothing can be done before what is also running has ended. Look again then.'}
        </p>
      ) : (
        <div class="offers">
          {offered.map((offer) => (
            <OfferItem key={offer.action} {...props} offer={offer} />
          ))}
        </div>
      )}
    </article>
  )
}

function CommitFact(props: {
  title: string
  repository: string
  id?: string | undefined
  text?: string | undefined
}) {
  const { title, repository, id, text } = props
  if (id === undefined) return null
  return (
    <>
      <dt>{title}</dt>
      <dd>
        <a href={addressOf(['data', repository, 'commits', id])}>
          <code>{id.slice(0, 12)}</code>
        </a>{' '}
        {text}
      </dd>
    </>
  )
}

function OfferItem({ offer, repository, target, digest, reload }: BranchProps & { readonly offer: Offer }) {
  const [reason, setReason] = useState('')
  const [result, setResult] = useState('')
  const { action, says, is_default, needs_reason, takes_result, steps } = offer
  const run = (): Promise<unknown> =>
    post('/repositories/{repository}/recoveries', {
      path: { repository },
      body: {
        ...{ ...target, digest, action },
        ...(reason !== '' && { reason }),
        ...(result !== '' && { result: JSON.parse(result) as unknown }),
      },
    })
  return (
    <div class="offer">
      <p>
        <strong>{action}</strong>{' '}
        {is_default && <span class="faint">what perago recover does unless told otherwise</span>}
        <br />
        {says}
      </p>
      {mayOperate() && (
        <Confirm act={`Do: ${action}`} isGrave={!is_default} run={run} onDone={reload}>
          <p>{says}</p>
          <ol>
            {steps.map((step, index) => (
              <li key={index}>
                {step.do}
                {step.to !== undefined && (
                  <>
                    {' → '}
                    <code>{step.to.slice(0, 12)}</code>
                  </>
                )}
              </li>
            ))}
          </ol>
          <p class="faint">
            It is looked at again first. If it is not as shown here any more, nothing is done.
          </p>
          {needs_reason && (
            <label>
              Reason{' '}
              <input value={reason} required onInput={(event) => setReason(event.currentTarget.value)} />
            </label>
          )}
          {takes_result && (
            <label>
              Result of the task, as JSON, if it differs{' '}
              <textarea value={result} onInput={(event) => setResult(event.currentTarget.value)} />
            </label>
          )}
        </Confirm>
      )}
    </div>
  )
}
