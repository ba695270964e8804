// Runs before every test file.
import { expect, inject } from 'vitest'
import { usesBuild } from './fresh-build.ts'

const stale = inject('staleBuild')
const { testPath } = expect.getState()
if (stale !== undefined && testPath !== undefined && usesBuild(testPath)) throw new Error(stale)
