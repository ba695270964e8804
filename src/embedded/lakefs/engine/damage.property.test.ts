// Goal: a changed bit anywhere in a data directory is never answered as if it were what was stored.
// Method: one bit of one file, then every question about a directory with some of everything.

import { expect, test } from 'vitest'
import { seededRandom } from '../../../base/random.ts'
import { chooseFlip, examineFlipped, makeDamageWorld } from '../../../../test/support/damage-world.ts'
import { temporaryDir } from '../../../../test/support/embedded-engine.ts'

const SEED = Number(process.env['PERAGO_PROPERTY_SEED'] ?? 8841)
const FLIPS = Number(process.env['PERAGO_PROPERTY_RUNS'] ?? 220)
const TIME_MS = 120_000 + 1000 * FLIPS

test(
  'EE-71 EE-78 whichever bit of a directory changes, no answer is wrong, and fsck names what is damaged',
  async () => {
    const world = await makeDamageWorld(temporaryDir())
    const random = seededRandom(SEED)
    const wrong: unknown[] = []
    const unnamed: unknown[] = []
    let told = 0
    for (let flip = 0; flip < FLIPS; flip += 1) {
      const place = chooseFlip(world.dataDir, random)
      const outcome = await examineFlipped(world, place)
      told += outcome.told
      const mustBeNamed = !outcome.opened || outcome.told > 0 || place.file.startsWith('objects')
      if (mustBeNamed && outcome.damages === 0) unnamed.push({ flip, place })
      if (outcome.wrong.length > 0) wrong.push({ flip, place, answers: outcome.wrong.slice(0, 3) })
    }
    expect(told).toBeGreaterThan(0)
    expect({ wrong, unnamed }).toEqual({ wrong: [], unnamed: [] })
  },
  TIME_MS,
)
