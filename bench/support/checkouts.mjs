// Another built checkout of this package, which does the same work in turn with this one.
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const SUPPORT = dirname(fileURLToPath(import.meta.url))

export const HERE = resolve(SUPPORT, '../..')

/** The built checkout that `--beside` names. */
export function checkoutBeside(directory) {
  const found = resolve(directory)
  if (!existsSync(mainOf(found)))
    throw new Error(`measure beside ${found}: it is not built. Run: npm run build`)
  return found
}

/** The program of a checkout. */
export function mainOf(checkout) {
  return join(checkout, 'dist/cli/main.js')
}

/** The tasks of this bench as a module that imports the package of that checkout, in which nothing is written. */
export function layOutTasks(bench, checkout) {
  if (checkout === HERE) return join(SUPPORT, 'tasks.mjs')
  const directory = join(bench.directory, 'beside')
  const modules = join(directory, 'node_modules')
  if (!existsSync(modules)) {
    mkdirSync(modules, { recursive: true })
    symlinkSync(checkout, join(modules, 'perago'))
    symlinkSync(join(checkout, 'node_modules/zod'), join(modules, 'zod'))
    for (const name of ['tasks.mjs', 'contents.mjs']) copyFileSync(join(SUPPORT, name), join(directory, name))
  }
  return join(directory, 'tasks.mjs')
}

/** A module with one of these tasks: a worker with few slots asks for each of its tasks in turn. */
export function layOutTask(bench, tasksPath, task) {
  const directory = join(bench.directory, 'modules')
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `${basename(dirname(tasksPath))}-${task}.mjs`)
  if (!existsSync(path)) writeFileSync(path, `export { ${task} } from '${pathToFileURL(tasksPath).href}'\n`)
  return path
}
