// Compiles src/ into dist/, from nothing, so that a file deleted in src/ never lives on in the package.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
const tsc = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
})
if (tsc.status !== 0) process.exit(tsc.status ?? 1)
if (existsSync('dist/cli/main.js')) chmodSync('dist/cli/main.js', 0o755)
