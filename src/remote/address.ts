/**
 * Reads the address of a server as people write it; no slash is left at the end of its path. The text itself is never
 * quoted: it may hold a password.
 */
export function parseAddress(
  text: string,
  fail: (why: string) => Error,
): { readonly origin: string; readonly pathname: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw fail('it is not an http or https address')
  if (url.username !== '' || url.password !== '')
    throw fail('it contains credentials, which have settings of their own')
  if (url.search !== '' || url.hash !== '') throw fail('it has a query or a fragment')
  return { origin: url.origin, pathname: url.pathname.replace(/\/+$/, '') }
}
