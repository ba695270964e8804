import { State } from './state.tsx'

/** Any of several states, in the query as a list with commas. */
export function StateChoice<S extends string>({
  states,
  chosen,
  choose,
}: {
  readonly states: readonly S[]
  readonly chosen: readonly S[]
  readonly choose: (chosen: readonly S[]) => void
}) {
  const toggle = (state: S): void =>
    choose(chosen.includes(state) ? chosen.filter((other) => other !== state) : [...chosen, state])
  return (
    <span class="tabs" role="group" aria-label="Only in these states">
      {states.map((state) => (
        <button key={state} type="button" aria-pressed={chosen.includes(state)} onClick={() => toggle(state)}>
          <State state={state} />
        </button>
      ))}
    </span>
  )
}

/** Those that there are. */
export function readChosen<S extends string>(text: string | undefined, states: readonly S[]): readonly S[] {
  const names = (text ?? '').split(',')
  return states.filter((state) => names.includes(state))
}
