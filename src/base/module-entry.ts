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
  return new URL(fromUrl.endsWith('.ts') ? compiled.replace('/src/', '/dist/') : compiled)
}
