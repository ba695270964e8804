/**
 * The entry of a thread or a child process. They load compiled files only, because Node 20 cannot read TypeScript: code that
 * runs from `src/`, such as the tests of this package, uses the entry of the last build.
 *
 * ```ts
 * new Worker(entryUrl(import.meta.url, './lease-thread.ts'))
 * ```
 */
export function entryUrl(fromUrl: string, relative: string): URL {
  const url = new URL(relative, fromUrl)
  const compiled = url.href.replace(/\.ts$/, '.js')
  if (!fromUrl.endsWith('.ts')) return new URL(compiled)
  // The last one, because the project may be below a directory of that name.
  const at = compiled.lastIndexOf('/src/')
  return new URL(`${compiled.slice(0, at)}/dist/${compiled.slice(at + '/src/'.length)}`)
}
