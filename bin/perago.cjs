#!/usr/bin/env node
// The `perago` command. In the repository and not built, so that `npx perago` finds a program before the first build too, and
// written so that an old Node understands it and can be told.
'use strict'

const { existsSync } = require('fs')
const { dirname, join } = require('path')
const { engines } = require('../package.json')

const oldest = /(\d+)\.(\d+)/.exec(engines.node).slice(1).map(Number)
const running = process.versions.node.split('.').map(Number)
const isTooOld = running[0] < oldest[0] || (running[0] === oldest[0] && running[1] < oldest[1])
const root = dirname(__dirname)

if (isTooOld) {
  refuse(
    'perago needs Node ' + oldest.join('.') + ' or newer, and this is Node ' + process.versions.node + '.',
  )
} else if (!existsSync(join(root, 'dist/cli/main.js'))) {
  refuse('perago is not built yet: run "npm ci" and "npm run build" in ' + root + '.')
} else {
  require('./run.cjs')
}

/** 2: it was called wrongly, as for every fault of the configuration. */
function refuse(why) {
  console.error(why)
  process.exitCode = 2
}
