// Texts that would run in a page which took them for markup.
import { Buffer } from 'node:buffer'
import type { VersionedRepo } from '../../../src/publication/ports.ts'
import { MAIN } from './world.ts'

const SCRIPT = '<img src=x onerror="window.pwned=1"><script>window.pwned=1</script>'

export const HOSTILE = {
  message: `Update ${SCRIPT}`,
  inside: 'onerror="window.pwned=1"',
  paths: [
    `a${SCRIPT.replaceAll('/', '_')}.txt`,
    'cells.csv',
    'keys.json',
    'drawing.svg',
    'page.html',
    'code.md',
  ],
} as const

const CONTENT: Readonly<Record<string, string>> = {
  'cells.csv': `id,"${SCRIPT.replaceAll('"', '""')}"\n1,"${SCRIPT.replaceAll('"', '""')}"\n`,
  'keys.json': JSON.stringify({ [SCRIPT]: SCRIPT, ['__proto__']: { pwned: 1 } }),
  'drawing.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><!-- ${SCRIPT} --></svg>`,
}

export async function hostileCommit(repo: VersionedRepo): Promise<string> {
  for (const path of HOSTILE.paths) {
    const bytes = Buffer.from(CONTENT[path] ?? `${SCRIPT}\n`)
    await repo.write({ branch: MAIN, path, body: { sizeBytes: bytes.length, open: () => bytes } })
  }
  const outcome = await repo.commit({
    branch: MAIN,
    message: HOSTILE.message,
    metadata: { 'publish.task': SCRIPT, note: SCRIPT },
  })
  if (!outcome.committed) throw new Error(outcome.reason)
  return outcome.commit.ref
}
