// The scripted repository of the tests is held to the same suite as the real ones, or it would prove nothing.
import { branchName } from '../../src/base/ids.ts'
import { ScriptedRepo } from '../../src/testing/scripted-repo.ts'
import { versionedRepoConformance } from './versioned-repo.ts'

const ASKS_THE_SERVER = 'the case asks a server, and there is none'

versionedRepoConformance('scripted', {
  skip: {
    'LC-21 a missing branch is told apart from a missing repository': 'a scripted world is one repository',
    'LC-31 a path that no server could keep is refused before anything is sent': 'nothing is sent over HTTP',
    'LC-37 a body of 64 MiB streams both ways in little memory': 'objects are held in memory',
    'LC-43 uncommitted changes are shown until they are committed': ASKS_THE_SERVER,
    'LC-44 before a merge the conflicting paths can be listed': ASKS_THE_SERVER,
    'LC-55 a hook that refuses a merge is heard, and nothing changes': 'there are no hooks',
    'LC-57 a commit record has the id it says it has, and is written once': ASKS_THE_SERVER,
    'LC-58 claim and collapse: a branch goes from B to C in two steps nobody can get between':
      ASKS_THE_SERVER,
    'LC-59 an expression that leads nowhere moves nothing': ASKS_THE_SERVER,
  },
  open: () => {
    const world = new ScriptedRepo()
    return Promise.resolve({
      repo: world.connect('conformance'),
      openOther: (repository) => new ScriptedRepo({ repository }).connect('conformance'),
      protect: (name) => {
        world.protectedBranches.add(branchName(name))
        return Promise.resolve()
      },
      close: () => Promise.resolve(),
    })
  },
})
