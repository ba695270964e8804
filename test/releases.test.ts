import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { PROJECT_ROOT, readText } from './support/source-tree.ts'

const run = promisify(execFile)

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

async function runScript(script: string, directory: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(PROJECT_ROOT, 'scripts', script), ...args], {
    cwd: directory,
  })
  return stdout
}

async function copyWith(files: Readonly<Record<string, string>>): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'perago-release-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const name of ['package.json', 'package-lock.json', 'CHANGELOG.md'])
    await writeFile(join(directory, name), files[name] ?? readText(name))
  return directory
}

/** Followed from what the package names, as an installation does it: a second way to the same list. */
function reachable({ packages }: Lock): Set<string> {
  const found = new Set<string>()
  const visit = (from: string, { dependencies, optionalDependencies }: LockedPackage): void => {
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      let at = from
      while (at !== '' && packages[`${at}/node_modules/${name}`] === undefined)
        at = at.includes('/node_modules/') ? at.slice(0, at.lastIndexOf('/node_modules/')) : ''
      const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
      const entry = packages[path]
      if (entry === undefined || found.has(path)) continue
      found.add(path)
      visit(path, entry)
    }
  }
  visit('', packages['']!)
  return new Set(
    [...found].map(
      (path) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${packages[path]!.version!}`,
    ),
  )
}

test('X-148 the list of what a release needs names every package that is installed with it, once', async () => {
  const lock = JSON.parse(readText('package-lock.json')) as Lock
  const listed = JSON.parse(await runScript('sbom.mjs', PROJECT_ROOT)) as {
    components: { name: string; version: string; hashes: unknown[] }[]
  }
  const names = listed.components.map(({ name, version }) => `${name}@${version}`)
  expect(new Set(names)).toEqual(reachable(lock))
  expect(names).toHaveLength(new Set(names).size)
  expect(listed.components.every(({ hashes }) => hashes.length === 1)).toBe(true)
})

test('HO-38 a licence that may not be passed on with ours fails the list', async () => {
  const lock = readText('package-lock.json')
  const changed = lock.replace(/("node_modules\/zod": \{[^}]*"license": )"MIT"/, '$1"AGPL-3.0-only"')
  expect(changed).not.toBe(lock)
  const directory = await copyWith({ 'package-lock.json': changed })
  await expect(runScript('sbom.mjs', directory)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('pkg:npm/zod@') as string,
  })
})

test('HO-39 a release has one version in tag, package and changelog, and its notes are those of the changelog', async () => {
  const { version } = JSON.parse(readText('package.json')) as { version: string }
  const changelog = `# Changelog\n\n## Unreleased\n\n## ${version} - 2026-01-02\n\n### Added\n\n- This.\n\n## 0.0.1 - 2025-01-01\n`
  const directory = await copyWith({ 'CHANGELOG.md': changelog })
  expect(await runScript('check-release.mjs', directory, `v${version}`, '--notes')).toBe(
    '### Added\n\n- This.\n',
  )
  await expect(runScript('check-release.mjs', directory, 'v99.0.0')).rejects.toMatchObject({ code: 1 })
  const without = await copyWith({ 'CHANGELOG.md': '# Changelog\n\n## Unreleased\n' })
  await expect(runScript('check-release.mjs', without, `v${version}`)).rejects.toMatchObject({ code: 1 })
})

test('HO-40 the changelog has known headings, each once in a version, and entries that are sentences', () => {
  const versions = readText('CHANGELOG.md').split(/^## /m).slice(1)
  expect(versions[0]).toMatch(/^Unreleased\n/)
  for (const version of versions) {
    expect(version).toMatch(/^(Unreleased|\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2})\n/)
    const headings = [...version.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading)
    const order = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
    expect(headings).toEqual(order.filter((heading) => headings.includes(heading)))
    for (const entry of version.split(/^- /m).slice(1))
      expect(entry.split(/^### /m)[0]!.trim()).toMatch(/[.:)]$|```$/)
  }
})

test('HO-41 a release is published by its workflow alone, after the gate, with provenance and without a token', async () => {
  const read = async (name: string): Promise<Workflow> =>
    parse(await readFile(join(PROJECT_ROOT, '.github/workflows', name), 'utf8')) as Workflow
  const [check, release] = [await read('check.yml'), await read('release.yml')]
  expect(JSON.stringify(check.jobs)).toContain('bash .ci/run')
  expect(release.jobs['publish']?.needs).toBe('check')
  const commands = release.jobs['publish']?.steps?.map(({ run = '' }) => run).join('\n')
  expect(commands).toContain('npm publish perago-*.tgz --provenance')
  expect(release.jobs['publish']?.permissions).toMatchObject({ 'id-token': 'write' })
  expect(JSON.stringify(release)).not.toMatch(/NPM_TOKEN|NODE_AUTH_TOKEN/)
  expect(readText('.npmrc')).toContain('ignore-scripts=true')
})

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string
        readonly permissions?: unknown
        readonly steps?: readonly { readonly run?: string }[]
      }
    >
  >
}
