import { describe, expect, test } from 'vitest'
import { commitRef, type MetaRangeId } from '../base/ids.ts'
import { commitIdOf } from './commit-id.ts'

/** Commits that a lakeFS 1.84 made itself, with the ids it gave them. */
const MADE_BY_LAKEFS = [
  {
    id: '990d2d32a628753e0f014a79dd78f66760b55b4cadcc74021a4f82225f4f4ac1',
    message: 'Zeile 1\nline 2 – 日本',
    metaRange: '318f6a5d51155f00b00321daf8ac7597e5397cc8549e7467552e702118a7110a',
    // In the order of JavaScript's strings the last two would change places.
    metadata: { '\u{1f4be}': 'x', '\u{ffff}': 'y', größe: '', b: '2', a: '1' },
    createdAt: 1_760_000_000,
    parents: ['439a8d910e81418c2a0a659f2e07f067a9cdaec240e3cc54ea92417606126bd9'],
  },
  {
    id: '5d81e4d191adf9783723c2fa86ec5b9b8ed8152f52d81679ae7b969d9a55e929',
    message: '',
    metaRange: '1e1357ff402df4f8fe8f5aebb636b0c4fa48ed207a8d1720fbc6b08916bd7511',
    metadata: {},
    createdAt: 1_760_000_001,
    parents: ['439a8d910e81418c2a0a659f2e07f067a9cdaec240e3cc54ea92417606126bd9'],
  },
  {
    id: '22b94d687bfc90c2da9facaa72e5ff5fe59179d7d23129abb9a21a5df9ce9ccb',
    message: 'm',
    metaRange: 'bc285a7739d2994684e92907406ebd1e0bae19684e3d53b19c9d15f825944d08',
    metadata: { '.lakefs.merge.strategy': 'default' },
    createdAt: 1_795_003_476,
    parents: [
      '990d2d32a628753e0f014a79dd78f66760b55b4cadcc74021a4f82225f4f4ac1',
      '5d81e4d191adf9783723c2fa86ec5b9b8ed8152f52d81679ae7b969d9a55e929',
    ],
  },
]

describe('commit id', () => {
  test.each(MADE_BY_LAKEFS)('LC-14 is the one lakeFS computes: $id', (commit) => {
    const record = {
      message: commit.message,
      committer: 'admin',
      metadata: commit.metadata as Record<string, string>,
      metaRange: commit.metaRange as MetaRangeId,
      // Whatever is below a second is not part of a commit.
      createdAt: new Date(commit.createdAt * 1000 + 999),
      parents: commit.parents.map(commitRef),
    }
    expect(commitIdOf(record)).toBe(commit.id)
    expect(commitIdOf({ ...record, committer: 'somebody' })).not.toBe(commit.id)
  })
})
