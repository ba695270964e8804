// Removes the directories named, and says of each what was in the way.
import { removeTree } from '../../../src/workspace/ownership/remove-tree.ts'

const ends = []
for (const directory of process.argv.slice(2)) {
  try {
    await removeTree(directory)
    ends.push({ code: 'removed' })
  } catch (error) {
    ends.push(error)
  }
}
process.stdout.write(JSON.stringify(ends))
