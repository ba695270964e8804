// The scripted repository of the tests is held to the same suite as the real ones, or it would prove nothing.
import { ScriptedRepo } from '../../src/testing/scripted-repo.ts'
import { versionedRepoConformance } from './versioned-repo.ts'

versionedRepoConformance('scripted', {
  skip: {
    'LC-21 a missing branch is told apart from a missing repository': 'a scripted world is one repository',
    'LC-31 a path that no server could keep is refused before anything is sent': 'nothing is sent over HTTP',
    'LC-37 a body of 64 MiB streams both ways in little memory': 'objects are held in memory',
    'LC-55 a hook that refuses a merge is heard, and nothing changes': 'there are no hooks',
    'LC-63 a protected branch takes merges and nothing else': 'there is no branch protection',
  },
  open: () => {
    const world = new ScriptedRepo()
    return Promise.resolve({
      repo: world.connect('conformance'),
      openOther: (repository) => new ScriptedRepo({ repository }).connect('conformance'),
      protect: () => Promise.resolve(),
      close: () => Promise.resolve(),
    })
  },
})
