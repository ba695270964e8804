/** Asks once more before something is done, and says what it will do. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Problem } from './problem.tsx'

export interface ConfirmProps {
  /** The word on the button: `Pause`. */
  readonly act: string
  /** What it will do, as a sentence or more. */
  readonly children: ComponentChildren
  readonly run: () => Promise<unknown>
  readonly isGrave?: boolean
  readonly disabled?: boolean
  /** Called when it was done. */
  readonly onDone?: () => void
}

export function Confirm({ act, children, run, isGrave = false, disabled = false, onDone }: ConfirmProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class={isGrave ? 'grave' : ''} disabled={disabled} onClick={() => setOpen(true)}>
        {act}…
      </button>
      {isOpen && (
        <Asking {...{ act, run, isGrave }} close={() => setOpen(false)} onDone={onDone}>
          {children}
        </Asking>
      )}
    </>
  )
}

function Asking({
  act,
  children,
  run,
  isGrave,
  close,
  onDone,
}: Pick<ConfirmProps, 'act' | 'children' | 'run'> & {
  readonly isGrave: boolean
  readonly close: () => void
  readonly onDone: (() => void) | undefined
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false })
  useEffect(() => dialog.current?.showModal(), [])
  const go = async (): Promise<void> => {
    setState({ isBusy: true })
    try {
      await run()
      close()
      onDone?.()
    } catch (error) {
      setState({ isBusy: false, error })
    }
  }
  return (
    <dialog ref={dialog} onClose={close} aria-label={act}>
      <h2>{act}?</h2>
      <div>{children}</div>
      <Problem error={state.error} />
      <p class="buttons">
        <button type="button" onClick={close}>
          Leave it
        </button>
        <button
          type="button"
          class={isGrave ? 'grave' : 'main'}
          disabled={state.isBusy}
          onClick={() => void go()}
        >
          {act}
        </button>
      </p>
    </dialog>
  )
}
