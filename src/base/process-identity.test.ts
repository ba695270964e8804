import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import {
  hasCertainlyEnded,
  identifyThisProcess,
  readProcessStart,
  type ProcessIdentity,
} from './process-identity.ts'

/** A process that does nothing, as it would have written itself down. */
async function startAnother(): Promise<{ identity: ProcessIdentity; kill: () => Promise<void> }> {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  const pid = child.pid ?? 0
  const processStart = (await readProcessStart(pid)) ?? ''
  const kill = async (): Promise<void> => {
    const ended = once(child, 'close')
    child.kill('SIGKILL')
    await ended
  }
  return { identity: { ...(await identifyThisProcess()), pid, processStart }, kill }
}

const onLinux = test.skipIf(process.platform !== 'linux')

onLinux('EN-850 a process has certainly ended once it was killed, and not before', async () => {
  const { identity, kill } = await startAnother()
  expect(await hasCertainlyEnded(identity)).toBe(false)
  await kill()
  expect(await hasCertainlyEnded(identity)).toBe(true)
})

onLinux('EN-850 a process has ended where another one has its pid', async () => {
  const self = await identifyThisProcess()
  expect(await hasCertainlyEnded(self)).toBe(false)
  expect(await hasCertainlyEnded({ ...self, processStart: '1' })).toBe(true)
})

onLinux('EN-850 nobody knows whether a process of another machine or container has ended', async () => {
  const { identity, kill } = await startAnother()
  await kill()
  expect(await hasCertainlyEnded({ ...identity, machine: 'another' })).toBe(false)
  expect(await hasCertainlyEnded({ ...identity, pidNamespace: 'pid:[1]' })).toBe(false)
})
