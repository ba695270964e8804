export function listPages(): readonly string[]
export function placeOf(page: string): string
export function resolveLink(
  page: string,
  target: string,
): { readonly href: string; readonly file?: string } | undefined
export function slugOf(heading: string): string
