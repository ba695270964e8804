// Apart from `perago.cjs`: an old Node does not understand `import()`, and is told so before it reads it.
'use strict'

import('../dist/cli/main.js').catch((error) => {
  console.error(error)
  process.exitCode = 70
})
