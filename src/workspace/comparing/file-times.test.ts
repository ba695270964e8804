// Goal: a file system is in the table only if it shows every mapped write in the times of the file.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import {
  openMappedWriter,
  whyNoMappedWriter,
  type MappedWriter,
} from '../../../test/support/workspace/mapped-writer.ts'
import { mounted, mountedOverlay, type MountedKind } from '../../../test/support/workspace/mounted.ts'
import { temporaryDirectory } from '../../../test/support/workspace/temporary-root.ts'
import { passFileClock } from './file-clock.ts'
import { laterOf, readFileFacts, sameFacts } from './file-facts.ts'
import { judgeFileTimes } from './file-times.ts'
import { isMappedWriteSeen } from './try-mapped-write.ts'

const ROUNDS = 20

/** Of how many mapped writes the times of the file tell nothing. */
async function countUnseen(directory: string, writer: MappedWriter): Promise<number> {
  const path = join(directory, 'file')
  let unseen = 0
  for (let round = 0; round < ROUNDS; round++) {
    writeFileSync(path, Buffer.alloc(20_000, 'a'))
    const before = readFileFacts(path)!
    await passFileClock(join(directory, 'clock'), laterOf(0n, before), systemClock)
    await writer.map(path)
    await writer.write('b')
    if (sameFacts(readFileFacts(path)!, before)) unseen++
    await writer.unmap()
    expect(readFileSync(path).subarray(0, 2).toString()).toBe('ba')
  }
  return unseen
}

describe('the times of files', () => {
  const table: readonly (readonly [MountedKind, string, boolean])[] = [
    ['ext4', 'ext4', true],
    ['xfs', 'XFS', true],
    ['btrfs', 'Btrfs', true],
    ['tmpfs', 'tmpfs', false],
  ]

  for (const [kind, name, areTrusted] of table) {
    test(`WS-203 ${areTrusted ? 'are trusted on' : 'are not trusted on'} ${kind}, where ${areTrusted ? 'each mapped write changes' : 'mapped writes need not change'} them`, async (context) => {
      context.skip(whyNoMappedWriter() !== undefined, whyNoMappedWriter())
      const directory = await mounted(kind, context)
      const writer = await openMappedWriter()
      expect(await judgeFileTimes(directory)).toEqual({ areTrusted, fileSystem: name })
      expect(await countUnseen(directory, writer)).toBe(areTrusted ? 0 : ROUNDS)
      expect(await isMappedWriteSeen(directory)).toBe(areTrusted)
    })

    test(`WS-203 ${areTrusted ? 'are trusted on' : 'are not trusted on'} an overlay that writes to ${kind}, which shows the same`, async (context) => {
      context.skip(whyNoMappedWriter() !== undefined, whyNoMappedWriter())
      const directory = await mountedOverlay(await mounted(kind, context), context)
      const writer = await openMappedWriter()
      expect(await judgeFileTimes(directory)).toEqual({ areTrusted, fileSystem: `overlay on ${name}` })
      expect(await countUnseen(directory, writer)).toBe(areTrusted ? 0 : ROUNDS)
      expect(await isMappedWriteSeen(directory)).toBe(areTrusted)
    })
  }

  test('WS-203 are not trusted on a file system that is not in the table', async () => {
    expect(await judgeFileTimes('/proc')).toEqual({ areTrusted: false, fileSystem: 'file system 0x9fa0' })
    expect(await isMappedWriteSeen('/proc')).toBe(false)
  })

  test('WS-203 trying leaves nothing behind', async () => {
    const directory = await temporaryDirectory()
    await isMappedWriteSeen(directory)
    expect(readdirSync(directory)).toEqual([])
  })
})
