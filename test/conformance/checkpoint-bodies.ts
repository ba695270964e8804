/**
 * The one suite every `CheckpointBodies` must pass.
 *
 * Goal: what was acknowledged comes back byte for byte, also after a restart, and only to its own execution.
 */

import { createHash } from 'node:crypto'
import { describe, expect, test, type TestContext } from 'vitest'
import { executionId, tenantId, type ExecutionScope } from '../../src/core/keys.ts'
import type { CheckpointBodies } from '../../src/engine/checkpoints/ports.ts'

export interface BodiesScene {
  readonly bodies: CheckpointBodies
  /** Another handle on the same data, as after a restart. */
  readonly reopen: () => Promise<CheckpointBodies>
}

const scope = { execution: executionId('exec_1') }
const ID = 'cp-1-mjv0q8w0-aaaaaaaa'
const OTHER_ID = 'cp-2-mjv0q8w1-bbbbbbbb'

/** Bytes that no compression makes smaller. */
export function noise(sizeBytes: number): Uint8Array {
  const blocks: Buffer[] = []
  for (let n = 0; n * 32 < sizeBytes; n++) blocks.push(createHash('sha256').update(String(n)).digest())
  return Buffer.concat(blocks).subarray(0, sizeBytes)
}

export function checkpointBodiesConformance(
  name: string,
  open: (context: TestContext) => Promise<BodiesScene>,
): void {
  describe(`checkpoint bodies: ${name}`, () => {
    test.for([1, 1_000, 2_500_000])(
      'X-85 %i bytes come back as they were, also after a restart',
      async (sizeBytes, context) => {
        const { bodies, reopen } = await open(context)
        const bytes = noise(sizeBytes)
        await bodies.write({ scope, checkpointId: ID }, bytes)
        for (const each of [bodies, await reopen()])
          expect(Buffer.from((await each.read({ scope, checkpointId: ID }))!).equals(bytes)).toBe(true)
      },
    )

    test('X-85 what was never written, or was removed, is not there', async (context) => {
      const { bodies } = await open(context)
      expect(await bodies.read({ scope, checkpointId: ID })).toBeUndefined()
      await bodies.write({ scope, checkpointId: ID }, noise(2_000_000))
      await bodies.write({ scope, checkpointId: OTHER_ID }, noise(10))
      await bodies.remove({ scope, checkpointId: ID })
      await bodies.remove({ scope, checkpointId: ID })
      expect(await bodies.read({ scope, checkpointId: ID })).toBeUndefined()
      expect(await bodies.list(scope)).toEqual([OTHER_ID])
      expect(await bodies.read({ scope, checkpointId: OTHER_ID })).toHaveLength(10)
    })

    test('X-85 executions whose ids differ by case, by tenant or by their end keep apart', async (context) => {
      const { bodies } = await open(context)
      const scopes = [
        { execution: executionId('exec_aB') },
        { execution: executionId('exec_AB') },
        { execution: executionId('exec_aB1') },
        { tenant: tenantId('Acme'), execution: executionId('exec_aB') },
        { tenant: tenantId('acme'), execution: executionId('exec_aB') },
      ]
      for (const [index, each] of scopes.entries())
        await bodies.write({ scope: each, checkpointId: ID }, Uint8Array.of(index))
      for (const [index, each] of scopes.entries()) {
        expect(await bodies.list(each)).toEqual([ID])
        expect([...(await bodies.read({ scope: each, checkpointId: ID }))!]).toEqual([index])
      }
      const found = await bodies.listExecutions?.()
      if (found !== undefined) expect(new Set(found.map(show))).toEqual(new Set(scopes.map(show)))
      await bodies.remove({ scope: scopes[0]!, checkpointId: ID })
      expect(await bodies.list(scopes[0]!)).toEqual([])
      expect(await bodies.list(scopes[1]!)).toEqual([ID])
    })
  })
}

function show({ tenant, execution }: ExecutionScope): string {
  return `${tenant ?? ''}/${execution}`
}
