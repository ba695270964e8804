/** Arrow keys go from the link of a row to that of the next; the list scrolls along. */
export function moveBetweenRows(event: KeyboardEvent): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  const row = event.target instanceof Element ? event.target.closest('.row') : null
  if (step === 0 || row === null || event.altKey || event.ctrlKey || event.metaKey) return
  const next = step === 1 ? row.nextElementSibling : row.previousElementSibling
  const link = next?.querySelector<HTMLElement>('a.row-link')
  if (link === null || link === undefined) return
  event.preventDefault()
  link.focus()
}
