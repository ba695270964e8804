// Goal: a changed bit anywhere in a data directory is never answered as if it were what was stored.
// Method: one bit of one file, then every question about a directory with some of everything.

import { expect, test } from 'vitest'
import { seededRandom } from '../../../base/random.ts'
import { chooseFlip, examineFlipped, makeDamageWorld } from '../../../../test/support/damage-world.ts'
import { temporaryDir } from '../../../../test/support/embedded-engine.ts'

const SEED = Number(process.env['PERAGO_PROPERTY_SEED'] ?? 8841)
const FLIPS = Number(process.env['PERAGO_PROPERTY_RUNS'] ?? 250)
const TIME_MS = 120_000 + 1000 * FLIPS

test(
  'EE-71 whichever bit of a data directory changes, every answer is right or tells of damage',
  async () => {
    const world = await makeDamageWorld(temporaryDir())
    const random = seededRandom(SEED)
    const wrong: unknown[] = []
    const sums = { opened: 0, right: 0, told: 0 }
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const place = chooseFlip(world.dataDir, random)
      const outcome = await examineFlipped(world, place)
      sums.opened += outcome.opened ? 1 : 0
      sums.right += outcome.right
      sums.told += outcome.told
      if (outcome.wrong.length > 0) wrong.push({ flip, place, answers: outcome.wrong.slice(0, 3) })
    }
    process.stdout.write(`${JSON.stringify(sums)}\n`)
    expect(wrong).toEqual([])
  },
  TIME_MS,
)
