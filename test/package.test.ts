// What a user downloads. `npm run package:check` adds publint and attw, which read the built package as tools do.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT_ROOT, listFiles, readText } from './support/source-tree.ts'

interface Manifest {
  readonly files: readonly string[]
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
}

interface LockedPackage {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
}

const manifest = JSON.parse(readText('package.json')) as Manifest

function listPackedFiles(): string[] {
  const npm = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const [packed] = JSON.parse(npm.stdout) as [{ files: { path: string }[] }]
  return packed.files.map(({ path }) => path).sort()
}

/** What the sources and the manifest together say the package is made of. */
function listDeclaredFiles(): string[] {
  const isCompiled = (path: string): boolean =>
    /(?<!\.test|\.d)\.ts$/.test(path) && !path.startsWith('src/web/')
  const compiled = listFiles('src', isCompiled).flatMap((path) => {
    const stem = path.replace(/^src\//, 'dist/').replace(/\.ts$/, '')
    return [`${stem}.js`, `${stem}.js.map`, `${stem}.d.ts`]
  })
  const carried = manifest.files
    .filter((name) => name !== 'dist')
    .flatMap((name) => (statSync(join(PROJECT_ROOT, name)).isDirectory() ? listFiles(name) : [name]))
  return [...compiled, ...carried, ...listPage(), 'package.json'].sort()
}

/** Its names hold hashes of what is in them. */
function listPage(): string[] {
  return readdirSync(join(PROJECT_ROOT, 'dist/web'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(PROJECT_ROOT, join(parentPath, name)))
}

test('WB-07 the first view of the page needs at most 150 KB compressed, and the page 1 MB of the package', () => {
  const sizeOf = (path: string): number => statSync(join(PROJECT_ROOT, path)).size
  const files = listPage()
  expect(files).toContain('dist/web/licences.txt')
  expect(sum(files.map(sizeOf))).toBeLessThan(1_000_000)
  // What the document names, and the largest of what it loads later beside it.
  const assets = files.filter((path) => path.endsWith('.js.gz') || path.endsWith('.css.gz'))
  const first = assets.filter((path) => readText('dist/web/index.html').includes(basename(path, '.gz')))
  expect(first.length).toBeGreaterThan(1)
  const later = assets.filter((path) => !first.includes(path)).map(sizeOf)
  expect(sum(first.map(sizeOf)) + Math.max(...later)).toBeLessThan(150_000)
})

function sum(numbers: readonly number[]): number {
  return numbers.reduce((before, each) => before + each, 0)
}

test('HO-14 the package holds what was built from the sources and what the manifest names, nothing else', () => {
  expect(existsSync(join(PROJECT_ROOT, 'dist')), 'run `npm run build` first, as `npm test` does').toBe(true)
  expect(listPackedFiles()).toEqual(listDeclaredFiles())
})

test('HO-14 every entry and every program of the manifest is in the package', () => {
  const packed = new Set(listPackedFiles())
  const named = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === 'string' ? [entry] : Object.values(entry),
  )
  const missing = [...named, ...Object.values(manifest.bin)].filter(
    (path) => !packed.has(path.replace(/^\.\//, '')),
  )
  expect(missing).toEqual([])
})

function readLocked(): Readonly<Record<string, LockedPackage>> {
  return (JSON.parse(readText('package-lock.json')) as { packages: Record<string, LockedPackage> }).packages
}

test('HO-15 no runtime dependency, however deep, has an install script', () => {
  const runtime = Object.entries(readLocked()).filter(([path, locked]) => path !== '' && locked.dev !== true)
  const names = runtime.map(([path]) => path.replace(/^.*node_modules\//, ''))
  expect(Object.keys(manifest.dependencies).filter((name) => !names.includes(name))).toEqual([])
  expect(runtime.filter(([, locked]) => locked.hasInstallScript === true).map(([path]) => path)).toEqual([])
})

test('HO-15 installing perago itself runs nothing', () => {
  const hooks = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublish']
  expect(hooks.filter((hook) => hook in manifest.scripts)).toEqual([])
})

// npm writes a lock file without the packages of other platforms when it cannot find them, and then `npm ci` refuses.
test('HO-18 the lock file is whole: whatever a package needs, on any platform, is locked too', () => {
  const locked = readLocked()
  const isLocked = (from: string, name: string): boolean => {
    for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1))) {
      if (`${place === '' ? '' : `${place}/`}node_modules/${name}` in locked) return true
      if (place === '') return false
    }
  }
  const lost = Object.entries(locked).flatMap(([path, needs]) =>
    Object.keys({ ...needs.dependencies, ...needs.optionalDependencies })
      .filter((name) => !isLocked(path, name))
      .map((name) => `${path} needs ${name}`),
  )
  expect(lost).toEqual([])
})
