// Finds a Java that is new enough, wherever the machine keeps it: the default one is often older.
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { isExecutable, listFolders, runProgram } from './process.ts'
import { CannotStart } from './real-server.ts'

const VERSION_MS = 20_000

/** The path of a `java` of at least the given major version. */
export async function findJava(majorMin: number): Promise<string> {
  const candidates = listCandidates().filter(isExecutable)
  const seen: string[] = []
  for (const java of candidates) {
    const major = await readMajor(java)
    if (major >= majorMin) return java
    seen.push(`${java} is ${String(major)}`)
  }
  const found = seen.length === 0 ? 'no `java` here' : seen.join(', ')
  throw new CannotStart(`needs Java ${String(majorMin)} or newer: ${found}`)
}

function listCandidates(): string[] {
  const homes = Object.entries(process.env)
    .filter(([name]) => /^(JAVA_HOME|JAVA_HOME_\w+|JDK_HOME)$/.test(name))
    .map(([, home]) => join(home ?? '', 'bin'))
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((place) => place !== '')
  const installed = [
    '/usr/lib/jvm',
    '/opt/java',
    join(process.env.HOME ?? '/nonexistent', '.sdkman/candidates/java'),
  ]
    .flatMap(listFolders)
    .flatMap((home) => [join(home, 'bin'), join(home, 'Contents/Home/bin')])
  return [...new Set([...homes, ...onPath, ...installed.reverse()])].map((place) => join(place, 'java'))
}

/** A JDK says its version in a file beside `bin`; asking the program itself takes a JVM start. */
async function readMajor(java: string): Promise<number> {
  const release = join(dirname(dirname(java)), 'release')
  const text = existsSync(release)
    ? readFileSync(release, 'utf8')
    : await runProgram(java, ['-version'], { timeoutMs: VERSION_MS })
  const [, first, second] = /(?:JAVA_VERSION=|version )"(\d+)(?:\.(\d+))?/.exec(text) ?? []
  // Up to 8 the major version stood second: 1.8.
  return Number(first === '1' ? second : (first ?? 0))
}
