// Writes bodies of checkpoints, one after the other, and tells each acknowledgement.
import { writeSync } from 'node:fs'
import { executionId } from '../../../src/core/keys.ts'
import { openDirectoryBodies } from '../../../src/engine/checkpoints/directory-bodies.ts'

const [directory = ''] = process.argv.slice(2)
const bodies = openDirectoryBodies(directory)
const scope = { execution: executionId('exec_1') }
for (const [index, content] of ['one', 'two', 'three'].entries()) {
  await bodies.write({ scope, checkpointId: `cp-${index}-0-0` }, Buffer.from(content))
  writeSync(1, 'answered\n')
}
