/** A data directory with some of everything, questions about all of it, and single bits of its files changed. */

import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { isPeragoError } from '../../src/base/errors.ts'
import type { Random } from '../../src/base/random.ts'
import { checkDataDir } from '../../src/embedded/lakefs/engine/fsck.ts'
import { EngineError } from '../../src/embedded/lakefs/engine/engine.ts'
import { openEngine, type LakefsEngine } from '../../src/embedded/lakefs/engine/open-engine.ts'
import { LAKE, lakeOn, tickingClock } from './embedded-engine.ts'

/** Codes and reasons that tell of damage; every other refusal claims to know what is stored. */
const DAMAGE = new Set([
  'embedded/corrupt-data-dir',
  'embedded/unsupported-data-dir',
  'embedded/damaged-object',
  'embedded/no-such-node',
  'embedded/write-failed',
])

export interface Question {
  readonly name: string
  ask(engine: LakefsEngine): unknown
}

export interface DamageWorld {
  readonly dataDir: string
  readonly questions: readonly Question[]
  /** By question: what an undamaged directory answers. */
  readonly answers: ReadonlyMap<string, string>
}

export interface Flip {
  readonly file: string
  readonly bit: number
}

export async function makeDamageWorld(dataDir: string): Promise<DamageWorld> {
  const engine = await openEngine({ dataDir, clock: tickingClock() })
  const refs = await fill(engine)
  const questions = listQuestions(engine, refs)
  await engine.close()
  const reopened = await openEngine({ dataDir, clock: tickingClock() })
  const answers = new Map<string, string>()
  for (const question of questions) answers.set(question.name, await answerOf(reopened, question))
  await reopened.close()
  return { dataDir, questions, answers }
}

/** Commits, merges, tags, a hidden branch, staged and sealed changes, deleted things, reserved addresses. */
async function fill(engine: LakefsEngine): Promise<readonly string[]> {
  await engine.createRepository({ name: LAKE, storageNamespace: 'local://lake', defaultBranch: 'main' })
  const lake = lakeOn(engine)
  for (let index = 0; index < 60; index += 1) {
    await lake.put('main', `d${index % 7}/f${index}`, `content ${index} `.repeat(1 + (index % 40)))
  }
  const first = await lake.commit('main', 'first')
  await lake.put('main', 'large', 'x'.repeat(1_100_000))
  await lake.commit('main', 'second')
  for (const name of ['dev', 'work', 'gone']) await lake.branch(name)
  await engine.createBranch({ repository: LAKE, name: 'hidden', source: 'main~1', hidden: true })
  for (let index = 0; index < 30; index += 1) {
    await lake.put('dev', `dev/${index}`)
    if (index % 6 === 0) await lake.commit('dev', `dev ${index}`)
  }
  await lake.commit('dev', 'dev last')
  await lake.merge('dev', 'main')
  await engine.createTag({ repository: LAKE, name: 'v1', ref: 'main' })
  await engine.createTag({ repository: LAKE, name: 'v0', ref: first.id })
  for (let index = 0; index < 40; index += 1) await lake.put('work', `work/${index}`, `work ${index}`)
  for (let index = 0; index < 10; index += 1) await lake.remove('work', `d${index % 7}/f${index}`)
  await engine.resetUncommitted(LAKE, 'work', { type: 'common_prefix', path: 'work/3' })
  await lake.put('gone', 'gone')
  await engine.deleteBranch(LAKE, 'gone')
  await engine.setProtection(LAKE, ['prod*', 'main'])
  await engine.createRepository({
    name: 'other',
    storageNamespace: 'local://other',
    defaultBranch: 'trunk',
  })
  const address = engine.reserveAddress(LAKE)
  await engine.storeBlobAt(LAKE, address, Readable.from([Buffer.from('reserved')]))
  const ids = engine
    .log(LAKE, 'main', { amount: 1000, firstParent: false, objects: [], prefixes: [] })
    .items.map((commit) => commit.id)
  return ['main', 'dev', 'work', 'hidden', 'v0', 'v1', 'main@', 'main~1', 'work@', ...ids]
}

function listQuestions(engine: LakefsEngine, refs: readonly string[]): readonly Question[] {
  const page = { amount: 1000 }
  const log = { amount: 1000, firstParent: false, objects: [], prefixes: [] }
  const questions: Question[] = [
    { name: 'repositories', ask: (asked) => asked.listRepositories(page) },
    { name: 'repository', ask: (asked) => asked.getRepository(LAKE) },
    { name: 'other', ask: (asked) => asked.getBranch('other', 'trunk') },
    { name: 'protection', ask: (asked) => asked.getProtection(LAKE) },
    { name: 'branches', ask: (asked) => asked.listBranches(LAKE, { ...page, showHidden: true }) },
    { name: 'shown branches', ask: (asked) => asked.listBranches(LAKE, { ...page, showHidden: false }) },
    { name: 'tags', ask: (asked) => asked.listTags(LAKE, page) },
    { name: 'merge base', ask: (asked) => asked.findMergeBase(LAKE, 'main', 'work') },
    {
      name: 'difference',
      ask: (asked) =>
        asked.diffRefs({ repository: LAKE, left: 'main', right: 'dev', type: 'two_dot', ...page }),
    },
    { name: 'nothing', ask: (asked) => asked.stat(LAKE, 'main', 'nothing') },
  ]
  for (const branch of ['main', 'dev', 'work', 'hidden']) {
    questions.push(
      { name: `branch ${branch}`, ask: (asked) => asked.getBranch(LAKE, branch) },
      {
        name: `uncommitted ${branch}`,
        ask: (asked) => asked.diffUncommitted({ repository: LAKE, branch, ...page }),
      },
    )
  }
  for (const ref of refs) {
    questions.push(
      { name: `list ${ref}`, ask: (asked) => asked.list(LAKE, ref, page) },
      { name: `commit ${ref}`, ask: (asked) => asked.getCommit(LAKE, ref) },
      { name: `log ${ref}`, ask: (asked) => asked.log(LAKE, ref, log) },
    )
  }
  for (const ref of ['main', 'work', 'v0', 'dev']) {
    for (const [index, { path }] of engine.list(LAKE, ref, page).items.entries()) {
      if (index % 5 !== 0 && path !== 'large') continue
      questions.push({ name: `read ${ref} ${path}`, ask: (asked) => readObject(asked, ref, path) })
    }
  }
  return questions
}

async function readObject(engine: LakefsEngine, ref: string, path: string): Promise<unknown> {
  const entry = engine.stat(LAKE, ref, path)
  return { entry, content: (await engine.readBlob(LAKE, entry.physicalAddress, 2_000_000)).toString() }
}

/** As text; a refusal that is no damage counts as an answer. */
async function answerOf(engine: LakefsEngine, question: Question): Promise<string> {
  try {
    return JSON.stringify(await question.ask(engine))
  } catch (error) {
    if (tellsDamage(error)) throw error
    return `refused: ${error instanceof EngineError ? error.reason : String(error)}`
  }
}

export function tellsDamage(error: unknown): boolean {
  return isPeragoError(error) && DAMAGE.has(error.code)
}

export interface Outcome {
  readonly opened: boolean
  readonly right: number
  readonly told: number
  /** Must be empty. */
  readonly wrong: readonly string[]
  /** What `perago lakefs fsck` names. */
  readonly damages: number
}

/** Opens the directory and asks everything. */
async function examine(world: DamageWorld): Promise<Omit<Outcome, 'damages'>> {
  const { dataDir } = world
  let engine: LakefsEngine
  try {
    engine = await openEngine({ dataDir, clock: tickingClock() })
  } catch (error) {
    return { opened: false, right: 0, told: 1, wrong: tellsDamage(error) ? [] : [`open: ${String(error)}`] }
  }
  const wrong: string[] = []
  let [right, told] = [0, 0]
  try {
    for (const question of world.questions) {
      try {
        const answer = await answerOf(engine, question)
        if (answer === world.answers.get(question.name)) right += 1
        else wrong.push(`${question.name}: ${answer.slice(0, 200)}`)
      } catch {
        told += 1
      }
    }
  } finally {
    await engine.close()
  }
  return { opened: true, right, told, wrong }
}

/** Any bit of any file; half of them in the metadata, however small they are. */
export function chooseFlip(dataDir: string, random: Random): Flip {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .filter((name) => statSync(join(dataDir, name)).size > 0)
    .sort()
  const file =
    random.next() < 0.5 ? 'metadata.sqlite' : (files[Math.floor(random.next() * files.length)] ?? '')
  return { file, bit: Math.floor(random.next() * statSync(join(dataDir, file)).size * 8) }
}

/** Changes one bit, looks, and puts every file back that looking may have changed. */
export async function examineFlipped(world: DamageWorld, { file, bit }: Flip): Promise<Outcome> {
  const damaged = join(world.dataDir, file)
  const kept = new Map(
    [damaged, join(world.dataDir, 'metadata.sqlite')].map((path) => [path, readFileSync(path)]),
  )
  const bytes = readFileSync(damaged)
  const at = bit >> 3
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
  writeFileSync(damaged, bytes)
  try {
    // First, since a start may change files.
    const { damages } = await checkDataDir(world.dataDir)
    return { ...(await examine(world)), damages: damages.length }
  } finally {
    for (const end of ['-wal', '-shm']) rmSync(join(world.dataDir, `metadata.sqlite${end}`), { force: true })
    for (const [path, content] of kept) writeFileSync(path, content)
  }
}
