// Who is active: the engine asks, the event manager and the variables answer.
import { expect, test } from 'vitest'
import { isTest, listFiles, readImports, reachedFrom } from './support/source-tree.ts'

const sources = listFiles('src', (path) => path.endsWith('.ts') && !isTest(path))
const imports = sources.flatMap(readImports)
const MANAGERS = sources.filter((path) => /^src\/core\/(?:events|variables)\//.test(path))

test('E-64 event manager and variables reach nothing of the engine or of workers; the engine reaches them', () => {
  expect(MANAGERS.length).toBeGreaterThan(10)
  const reached = [...reachedFrom(MANAGERS, imports)]
  expect(reached.filter((path) => /^src\/(?:engine|worker|runtime|server)\//.test(path))).toEqual([])
  const host = [...reachedFrom(['src/engine/host/open-engine.ts'], imports)]
  expect(host).toContain('src/core/events/event-manager.ts')
  expect(host).toContain('src/core/variables/variable-store.ts')
})
