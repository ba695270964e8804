/** Where the entry of a thread or a child process is. */

/**
 * Threads and child processes load compiled files only: Node 20 reads no TypeScript. Code that runs from `src/`, as in
 * the tests of this package, starts the entry of the last build instead.
 *
 * ```ts
 * new Worker(entryUrl(import.meta.url, './lease-thread.ts'))
 * ```
 */
export function entryUrl(fromUrl: string, relative: string): URL {
  const url = new URL(relative, fromUrl)
  const compiled = url.href.replace(/\.ts$/, '.js')
  if (!fromUrl.endsWith('.ts')) return new URL(compiled)
  // The last one: the project may itself lie below a directory of that name.
  const at = compiled.lastIndexOf('/src/')
  return new URL(`${compiled.slice(0, at)}/dist/${compiled.slice(at + '/src/'.length)}`)
}
