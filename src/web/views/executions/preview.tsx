import type { Schemas } from '../../api.ts'
import { Commit, Branch } from '../../parts/data-links.tsx'

/** What a rollback would do, and why it would be refused. */
export function PreviewOf({ preview }: { readonly preview: Schemas['RollbackPreview'] }) {
  const { undone, moves, restores, refusals, checkpoint_id: checkpoint } = preview
  return (
    <>
      {refusals.map(({ code, message, next }) => (
        <div key={`${code} ${message}`} class="problem">
          <p>
            It would be refused: {message} <code>{code}</code>
          </p>
          <p>{next}</p>
        </div>
      ))}
      <dl class="facts">
        {checkpoint !== undefined && (
          <>
            <dt>To</dt>
            <dd>
              <code>{checkpoint}</code>
            </dd>
          </>
        )}
        <dt>Taken back</dt>
        <dd>{undone.length === 0 ? 'nothing' : undone.join(', ')}</dd>
        <dt>Branches</dt>
        <dd>
          {moves.length === 0 && restores.length === 0 && 'none moves'}
          <ul class="plain">
            {moves.map(({ repository, branch, from, to }) => (
              <li key={`${repository} ${branch}`}>
                <Branch {...{ repository, branch }} /> goes from <Commit {...{ repository, id: from }} /> back
                to <Commit {...{ repository, id: to }} />
              </li>
            ))}
            {restores.map(({ repository, branch, paths }) => (
              <li key={`${repository} ${branch}`}>
                <Branch {...{ repository, branch }} /> gets a new commit that restores{' '}
                {paths === undefined ? 'all that the unit changed' : paths.join(', ')}
              </li>
            ))}
          </ul>
        </dd>
      </dl>
      {moves.length > 0 && <p class="faint">What leaves a branch stays reachable under a tag.</p>}
    </>
  )
}
