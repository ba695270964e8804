/** Who is told, and what could not be delivered. */

import { get, post, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Id } from '../../parts/copy.tsx'
import { Empty, Loading, Problem } from '../../parts/problem.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { addressOf } from '../../route.ts'
import { mayOperate } from '../../session.ts'

const EVERY_MS = 10_000

export function Webhooks() {
  const { data, error, reload } = useLoaded((signal) => get('/webhooks', { signal }), [], {
    everyMs: EVERY_MS,
  })
  return (
    <section aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <Problem error={error} retry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.webhooks.length === 0 ? (
        <Empty run="npx perago webhooks add https://example.org/hook --type '*.failed'">
          There is none. To tell another system about events, add one:
        </Empty>
      ) : (
        data.webhooks.map((webhook) => <Webhook key={webhook.id} webhook={webhook} />)
      )}
    </section>
  )
}

function Webhook({ webhook }: { readonly webhook: Schemas['Webhook'] }) {
  const { id, url, types, overflow } = webhook
  const path = { webhook_id: id }
  const { data, error, reload } = useLoaded(
    (signal) => get('/webhooks/{webhook_id}/dead-deliveries', { path, query: { limit: 100 }, signal }),
    [id],
    { everyMs: EVERY_MS },
  )
  const dead = data?.deliveries ?? []
  return (
    <article class="card webhook">
      <p>
        <State state={overflow === undefined && dead.length === 0 ? 'ok' : 'warn'} /> <strong>{url}</strong>{' '}
        <span class="faint">{types.join(', ')}</span> <Id id={id} />
      </p>
      {overflow !== undefined && (
        <p>
          Since <Time at={overflow.since} />: {overflow.problem}
        </p>
      )}
      <Problem error={error} />
      {dead.length > 0 && (
        <details>
          <summary>
            {dead.length}
            {data?.next_after === undefined ? '' : ' or more'}{' '}
            {dead.length === 1 ? 'delivery was' : 'deliveries were'} given up
          </summary>
          <ul class="dead">
            {dead.map((delivery) => (
              <Dead key={delivery.id} delivery={delivery} />
            ))}
          </ul>
        </details>
      )}
      {dead.length > 0 && mayOperate() && (
        <Confirm
          act="Send again"
          run={() => post('/webhooks/{webhook_id}/redeliver', { path })}
          onDone={reload}
        >
          <p>
            Sends what was given up to <strong>{url}</strong> again, with the same ids; up to 1,000
            deliveries.
          </p>
        </Confirm>
      )}
    </article>
  )
}

function Dead({ delivery }: { readonly delivery: Schemas['DeadDelivery'] }) {
  const { execution_id, event_type, attempts, last_problem, gave_up_at } = delivery
  return (
    <li>
      <Time at={gave_up_at} /> <code>{event_type}</code> of{' '}
      <a href={addressOf(['executions', execution_id])}>{execution_id}</a>, {attempts}{' '}
      {attempts === 1 ? 'attempt' : 'attempts'}: {last_problem}
    </li>
  )
}
