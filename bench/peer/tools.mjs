// `lakectl local clone` and `commit`, and `cp -r`: the same files without a workflow.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { changedBy, contentOf, pathOf } from '../support/contents.mjs'
import { sizeOf } from '../support/datasets.mjs'
import { PATCH_BYTES } from './verify.mjs'

export function openLakectl(bench, lakectl, lakefs) {
  let count = 0
  const home = join(bench.directory, 'lakectl')
  mkdirSync(home, { recursive: true })
  const run = (args) => {
    const { status, stdout, stderr } = spawnSync(lakectl, args, {
      cwd: home,
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        HOME: home,
        LAKECTL_SERVER_ENDPOINT_URL: lakefs.url,
        LAKECTL_CREDENTIALS_ACCESS_KEY_ID: lakefs.keys.accessKeyId,
        LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY: lakefs.keys.secretAccessKey,
      },
    })
    if (status !== 0) throw new Error(`lakectl ${args.join(' ')}: ${status} ${stdout} ${stderr}`)
  }
  return {
    name: 'lakectl local',
    /** Seconds for clone and commit, the change in between included. */
    publish(data, { branch, change, seed }) {
      const directory = join(home, String(++count))
      const startMs = performance.now()
      run([
        'local',
        'clone',
        `lakefs://${data.repository}/${branch}/data/`,
        directory,
        '--no-progress',
        '--gitignore=false',
      ])
      applyChange(directory, data, { change, seed })
      if (change !== 'none') run(['local', 'commit', directory, '-m', seed, '--no-progress', '--yes'])
      const seconds = (performance.now() - startMs) / 1_000
      rmSync(directory, { recursive: true })
      return seconds
    },
    /** Seconds for the upload of a directory, and with the commit. */
    upload({ repository, branch, ...data }) {
      const directory = layOut(join(home, String(++count)), { ...data, lastBytes: data.sizeBytes })
      const branchUri = `lakefs://${repository}/${branch}`
      const startMs = performance.now()
      run(['fs', 'upload', '--recursive', '--no-progress', '--source', directory, `${branchUri}/data/`])
      const uploadSeconds = (performance.now() - startMs) / 1_000
      run(['commit', branchUri, '--message', data.seed])
      const seconds = (performance.now() - startMs) / 1_000
      rmSync(directory, { recursive: true })
      return { seconds, uploadSeconds }
    },
  }
}

/** Seconds for a plain copy of the same files on the same disk. */
export function openCopy(bench) {
  const home = join(bench.directory, 'copies')
  const laidOut = new Map()
  return {
    name: 'cp -r',
    copy(data) {
      if (!laidOut.has(data)) laidOut.set(data, layOut(join(home, data.repository), data))
      const to = join(home, 'copy')
      const startMs = performance.now()
      const { status } = spawnSync('cp', ['-r', laidOut.get(data), to])
      const seconds = (performance.now() - startMs) / 1_000
      if (status !== 0) throw new Error(`cp -r: it ended with ${status}`)
      rmSync(to, { recursive: true })
      return seconds
    },
  }
}

function layOut(directory, data) {
  for (let index = 0; index < data.files; index++) {
    const path = join(directory, pathOf(index))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, contentOf(data.seed, pathOf(index), sizeOf(data, index)))
  }
  return directory
}

function applyChange(directory, data, { change, seed }) {
  for (const index of changedBy(change, data.files)) {
    const path = pathOf(index)
    if (change !== 'patch') writeFileSync(join(directory, path), contentOf(seed, path, sizeOf(data, index)))
    else {
      const file = openSync(join(directory, path), 'r+')
      writeSync(file, contentOf(seed, path, PATCH_BYTES), 0, PATCH_BYTES, 0)
      closeSync(file)
    }
  }
}
