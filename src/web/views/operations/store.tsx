/** Where executions are kept, and when what has ended was last swept and archived. */

import { get, type Schemas } from '../../api.ts'
import { useLoaded } from '../../load.ts'
import { Loading, Problem } from '../../parts/problem.tsx'
import { Ago, showSize } from '../../parts/time.tsx'

const EVERY_MS = 30_000

export function Store() {
  const { data, error, reload } = useLoaded((signal) => get('/store', { signal }), [], { everyMs: EVERY_MS })
  return (
    <section aria-labelledby="store">
      <h2 id="store">Store</h2>
      <Problem error={error} retry={reload} />
      {data === undefined ? error === undefined && <Loading /> : <Report report={data} />}
    </section>
  )
}

function Report({ report }: { readonly report: Schemas['StoreReport'] }) {
  const { store, archive, swept, archived } = report
  return (
    <dl class="facts">
      <dt>Store</dt>
      <dd>
        <Place place={store} />
      </dd>
      <dt>Last sweep</dt>
      <dd>
        <Pass pass={swept} did="swept" />
      </dd>
      <dt>Archive</dt>
      <dd>
        {archive === undefined ? (
          <span class="faint">
            none: events of ended executions are removed after their retention. <code>--archive</code> of{' '}
            <code>perago serve</code> names one.
          </span>
        ) : (
          <Place place={archive} />
        )}
      </dd>
      {archive !== undefined && (
        <>
          <dt>Last archiving</dt>
          <dd>
            <Pass pass={archived} did="archived" />
          </dd>
        </>
      )}
    </dl>
  )
}

function Place({ place: { kind, bytes } }: { readonly place: Schemas['StorePlace'] }) {
  return (
    <>
      {kind}
      {bytes !== undefined && `, ${showSize(bytes)}`}
    </>
  )
}

function Pass({
  pass,
  did,
}: {
  readonly pass?: Schemas['MaintenancePass'] | undefined
  readonly did: string
}) {
  if (pass === undefined) return <span class="faint">none by this server yet</span>
  const { at, done, failed } = pass
  return (
    <>
      <Ago at={at} />: {done} {done === 1 ? 'execution' : 'executions'} {did}
      {failed > 0 && `, ${String(failed)} to be tried again`}
    </>
  )
}
