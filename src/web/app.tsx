import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { connection, isLoggedOut, logOut } from './api.ts'
import { LogIn } from './login.tsx'
import { Empty, Loading, Problem } from './parts/problem.tsx'
import { Ago } from './parts/time.tsx'
import { addressOf, followAddress, route, type ViewProps } from './route.ts'
import { isAsking, openFromAddress, session } from './session.ts'

type View = ComponentType<ViewProps>
interface Place {
  readonly title: string
  /** What `GET /session` must show, if it needs anything. */
  readonly needs?: string
  readonly load: () => Promise<View>
}

const PLACES: Readonly<Record<string, Place>> = {
  home: { title: 'Now', load: async () => (await import('./views/home/view.tsx')).HomeView },
  data: {
    title: 'Data',
    needs: 'repositories',
    load: async () => (await import('./views/data/view.tsx')).DataView,
  },
  runs: {
    title: 'Runs',
    needs: 'workflows',
    load: async () => (await import('./views/runs/view.tsx')).RunsView,
  },
  executions: {
    title: 'Executions',
    needs: 'executions',
    load: async () => (await import('./views/executions/view.tsx')).ExecutionsView,
  },
  operations: {
    title: 'Operations',
    load: async () => (await import('./views/operations/view.tsx')).OperationsView,
  },
}

export function App() {
  const [error, setError] = useState<unknown>(undefined)
  const start = (): void => {
    setError(undefined)
    openFromAddress().then(followAddress, setError)
  }
  useEffect(start, [])
  if (error !== undefined)
    return (
      <main>
        <Problem error={error} retry={start} />
      </main>
    )
  if (isLoggedOut.value) return <LogIn />
  if (isAsking.value || session.value === undefined)
    return (
      <main>
        <Loading />
      </main>
    )
  return <Frame />
}

function Frame() {
  const { parts, query } = route.value
  const [name = 'home', ...rest] = parts
  const place = PLACES[name]
  const shows: readonly string[] = session.value?.shows ?? []
  useEffect(() => {
    document.title = [...rest.slice(-1), place?.title ?? name, 'perago'].join(' · ')
  }, [parts.join('/')])
  return (
    <>
      <a class="skip" href="#main" onClick={focusMain}>
        To the content
      </a>
      <header>
        <a class="brand" href={addressOf([])}>
          perago
        </a>
        <nav aria-label="Views">
          {Object.entries(PLACES)
            .filter(([, { needs }]) => needs === undefined || shows.includes(needs))
            .map(([key, { title }]) => (
              <a
                key={key}
                href={addressOf(key === 'home' ? [] : [key])}
                aria-current={key === name ? 'page' : undefined}
              >
                {title}
              </a>
            ))}
        </nav>
        <Who />
      </header>
      <Connection />
      <main id="main" tabIndex={-1}>
        {place === undefined ? (
          <NoView>
            There is no view “{name}”. <a href={addressOf([])}>What there is now</a>
          </NoView>
        ) : place.needs !== undefined && !shows.includes(place.needs) ? (
          <NoView>
            This server does not show {place.needs}. <a href={addressOf([])}>What it shows now</a>
          </NoView>
        ) : (
          <Lazy key={name} load={place.load} props={{ parts: rest, query }} />
        )}
      </main>
    </>
  )
}

function NoView({ children }: { readonly children: ComponentChildren }) {
  return (
    <>
      <h1>Nothing is here</h1>
      <Empty>{children}</Empty>
    </>
  )
}

function focusMain(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

function Who() {
  const { name, role, tenant } = session.value ?? { name: '', role: 'viewer', tenant: undefined }
  return (
    <div class="who">
      <span title={`role ${role}${tenant === undefined ? '' : `, tenant ${tenant}`}`}>
        {name} <span class="faint">{role}</span>
      </span>
      <button type="button" class="quiet" onClick={() => void logOut()}>
        Log out
      </button>
    </div>
  )
}

/** What is shown may be old. */
function Connection() {
  const { isGone, answeredAt } = connection.value
  return (
    <div class="connection" role="status">
      {isGone && (
        <p class="stale">
          The server does not answer. What is shown is from <Ago at={answeredAt} />.
        </p>
      )}
    </div>
  )
}

function Lazy({ load, props }: { readonly load: () => Promise<View>; readonly props: ViewProps }) {
  const [loaded, setLoaded] = useState<{ view?: View; error?: unknown }>({})
  useEffect(() => {
    load().then(
      (view) => setLoaded({ view }),
      (error: unknown) => setLoaded({ error }),
    )
  }, [])
  if (loaded.error !== undefined) return <Problem error={loaded.error} retry={() => location.reload()} />
  return loaded.view === undefined ? <Loading /> : <loaded.view {...props} />
}
