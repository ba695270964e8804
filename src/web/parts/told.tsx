import { splitIds } from './reason.ts'

/** A text of a server; long ids of commits in it by their first digits, and whole on hover. */
export function Told({ text }: { readonly text: string }) {
  return (
    <>
      {splitIds(text).map((part, index) =>
        part.id === undefined ? (
          part.text
        ) : (
          <code key={index} title={part.id}>
            {part.text}
          </code>
        ),
      )}
    </>
  )
}
