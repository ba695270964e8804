import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A directory of its own for a document, until the test has finished. */
export async function placeDocument(
  text: string,
): Promise<{ readonly directory: string; readonly page: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'perago-document-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const page = join(directory, 'page.md')
  await writeFile(page, text)
  return { directory, page }
}
