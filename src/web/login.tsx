import { useState } from 'preact/hooks'
import { Problem } from './parts/problem.tsx'
import { logIn } from './session.ts'

/** A token of the HTTP API, or a key pair of lakeFS. */
export function LogIn() {
  const [kind, setKind] = useState<'token' | 'lakefs'>('token')
  const [error, setError] = useState<unknown>(undefined)
  const send = async (form: HTMLFormElement): Promise<void> => {
    const given = Object.fromEntries(new FormData(form)) as Record<string, string>
    setError(undefined)
    try {
      await logIn(given)
    } catch (failure) {
      setError(failure)
    }
  }
  return (
    <main class="log-in">
      <h1>perago</h1>
      <p>
        A server on this machine prints an address that logs in at once: it ends with <code>#key=…</code>.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void send(event.currentTarget)
        }}
      >
        <p class="tabs" role="group" aria-label="Log in with">
          <button type="button" aria-pressed={kind === 'token'} onClick={() => setKind('token')}>
            Token
          </button>
          <button type="button" aria-pressed={kind === 'lakefs'} onClick={() => setKind('lakefs')}>
            lakeFS key
          </button>
        </p>
        {kind === 'token' ? (
          <Field key="token" name="token" label="Token" secret />
        ) : (
          <>
            <Field key="id" name="access_key_id" label="Access key id" />
            <Field key="secret" name="secret_access_key" label="Secret access key" secret />
          </>
        )}
        <Problem error={error} />
        <button type="submit" class="main">
          Log in
        </button>
        <p class="faint">
          {kind === 'token' ? (
            <>
              An admin makes one with <code>perago token create --name NAME</code>.
            </>
          ) : (
            <>
              <code>perago lakefs credentials</code> prints that of the server on this machine.
            </>
          )}
        </p>
      </form>
    </main>
  )
}

function Field({ name, label, secret = false }: { name: string; label: string; secret?: boolean }) {
  return (
    <label>
      {label}
      {secret ? (
        <input name={name} type="password" required autocomplete="off" />
      ) : (
        <input name={name} type="text" required autocomplete="off" spellcheck={false} />
      )}
    </label>
  )
}
