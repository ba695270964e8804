import { EMBEDDED_PATH_MAX_BYTES } from '../../limits.ts'
import { EngineError } from './engine.ts'

export const REPOSITORY_NAME = /^[a-z0-9][a-z0-9-]{2,62}$/
const BRANCH_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]*$/
/** What lakeFS refuses in a tag: these characters, two dots in a row, a dot at the end. */
const TAG_FORBIDDEN = /[\s/^:?*[\\\p{Cc}]|\.\.|\.$/u

export function checkRepositoryName(name: string): void {
  if (REPOSITORY_NAME.test(name)) return
  throw bad(
    `repository name ${JSON.stringify(name)}: it must have 3 to 63 lower-case letters, digits and "-"`,
  )
}

export function checkBranchName(name: string): void {
  if (BRANCH_NAME.test(name)) return
  throw bad(
    `branch name ${JSON.stringify(name)}: it must have letters, digits, "_" and "-", and not start with "-"`,
  )
}

export function checkTagName(name: string): void {
  if (name !== '' && !TAG_FORBIDDEN.test(name)) return
  throw bad(`tag name ${JSON.stringify(name)}: it is empty or has characters that a tag must not have`)
}

/** Paths are never normalized: every string that is not empty and not too long is a key. */
export function checkPath(path: string): void {
  if (isPath(path)) return
  throw bad(path === '' ? 'the path is empty' : `the path is longer than ${EMBEDDED_PATH_MAX_BYTES} bytes`)
}

export function isPath(path: string): boolean {
  return path !== '' && Buffer.byteLength(path, 'utf8') <= EMBEDDED_PATH_MAX_BYTES
}

function bad(message: string): EngineError {
  return new EngineError('bad-argument', message)
}
