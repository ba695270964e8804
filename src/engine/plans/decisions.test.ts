// Whether to share data: every combination of answers has one decision, and each decision is judged.
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { openPlanWorld } from '../../../test/support/plans.ts'
import {
  SharedSpaceDecisionMaker,
  SHARING_PATTERNS,
  validateDecision,
  type SharingDecision,
  type SharingRecommendation,
  type SharingRequirements,
} from './decisions.ts'
import { quickDecisionTool } from './quick-decision-tool.ts'
import {
  buildETLPlan,
  independentDataExample,
  pipelineExample,
  realtimeCollaborationExample,
} from './sharing-examples.ts'

const AVOID = 'AVOID_SHARED_SPACE'
const SYNC = 'SAME_ORDER_WITH_SYNC'
const PIPELINE = 'CROSS_ORDER_PIPELINE'

function needs(communication: boolean, dependency: boolean, realtime: boolean): SharingRequirements {
  return { needsCommunication: communication, hasDependency: dependency, needsRealtime: realtime }
}

const recommend = (...answers: [boolean, boolean, boolean]): SharingRecommendation =>
  SharedSpaceDecisionMaker(needs(...answers)).recommendation

describe('the decision', () => {
  test.each([
    [false, false, false, AVOID],
    [false, false, true, AVOID],
    [false, true, false, AVOID],
    [false, true, true, AVOID],
    [true, false, false, AVOID],
    [true, false, true, SYNC],
    [true, true, false, PIPELINE],
    [true, true, true, PIPELINE],
  ] as const)('P-167 P-158 communication %s, dependency %s, real time %s: %s', (a, b, c, expected) => {
    expect(recommend(a, b, c)).toBe(expected)
  })

  test('P-159 a clear dependency leads to the cross-order pipeline, real time or not', () => {
    expect([recommend(true, true, false), recommend(true, true, true)]).toEqual([PIPELINE, PIPELINE])
  })

  test('P-160 without dependency real time decides', () => {
    expect([recommend(true, false, true), recommend(true, false, false)]).toEqual([SYNC, AVOID])
  })

  test('P-162 a decision has four fields, and an alternative only when advised against', () => {
    const keys = (...answers: [boolean, boolean, boolean]): string[] =>
      Object.keys(SharedSpaceDecisionMaker(needs(...answers))).sort()
    const four = ['codeExample', 'pattern', 'reason', 'recommendation']
    expect(keys(true, false, true)).toEqual(four)
    expect(keys(true, true, false)).toEqual(four)
    expect(keys(false, false, false)).toEqual(['alternative', ...four])
    expect(keys(true, false, false)).toEqual(['alternative', ...four])
  })

  test('P-163 no communication: always avoid, with an alternative, neither pattern nor example', () => {
    for (const dependency of [false, true])
      for (const realtime of [false, true])
        expect(SharedSpaceDecisionMaker(needs(false, dependency, realtime))).toEqual({
          recommendation: AVOID,
          reason: 'The tasks need no data of each other.',
          pattern: null,
          alternative: 'Use a message queue, a database or independent variables.',
          codeExample: null,
        })
  })

  test('P-164 real-time cooperation names its pattern and example', () => {
    expect(SharedSpaceDecisionMaker(needs(true, false, true))).toMatchObject({
      recommendation: SYNC,
      pattern: 'same order with synchronisation',
      codeExample: 'realtimeCollaborationExample()',
    })
  })

  test('P-165 communication alone: independent data', () => {
    const decision = SharedSpaceDecisionMaker(needs(true, false, false))
    expect(decision).toMatchObject({
      recommendation: AVOID,
      pattern: null,
      codeExample: 'independentDataExample()',
    })
    expect(decision.alternative).toMatch(/independent data structures/)
  })

  test('P-166 communication and dependency: the cross-order pipeline', () => {
    const decision = SharedSpaceDecisionMaker(needs(true, true, false))
    expect(decision).toMatchObject({ pattern: 'cross-order pipeline', codeExample: 'pipelineExample()' })
    expect(SharedSpaceDecisionMaker(needs(true, true, true))).toEqual(decision)
  })

  test.each([
    ['P-169 ETL gives the cross-order pipeline', needs(true, true, false), PIPELINE, 'cross-order pipeline'],
    [
      'P-170 live monitoring gives one order with synchronisation',
      needs(true, false, true),
      SYNC,
      'same order with synchronisation',
    ],
    ['P-171 independent computing gives no sharing', needs(false, false, false), AVOID, null],
  ] as const)('%s', (_, requirements, recommendation, pattern) => {
    expect(SharedSpaceDecisionMaker(requirements)).toMatchObject({ recommendation, pattern })
  })
})

describe('the judgement', () => {
  const judge = (
    requirements: SharingRequirements,
    recommendation: SharingRecommendation,
  ): ReturnType<typeof validateDecision> => validateDecision(requirements, { recommendation })

  test('P-173 a fitting pair is valid without warnings', () => {
    const requirements = needs(true, true, false)
    expect(validateDecision(requirements, SharedSpaceDecisionMaker(requirements))).toEqual({
      valid: true,
      warnings: [],
    })
  })

  test('P-174 avoiding despite needed communication is invalid, also for our own advice', () => {
    const requirements = needs(true, false, false)
    const own = SharedSpaceDecisionMaker(requirements)
    expect(validateDecision(requirements, own)).toEqual({
      valid: false,
      warnings: [expect.stringMatching(/need to communicate/)],
    })
    expect(own.reason).toMatch(/If they must communicate nevertheless/)
  })

  test('P-175 synchronisation despite a dependency is valid with a warning', () => {
    expect(judge(needs(true, true, true), SYNC)).toEqual({
      valid: true,
      warnings: [expect.stringMatching(/consider different orders/)],
    })
  })

  test('P-176 synchronisation without real-time need is valid with a warning', () => {
    expect(judge(needs(true, false, false), SYNC)).toEqual({
      valid: true,
      warnings: [expect.stringMatching(/more effort than needed/)],
    })
  })

  test('P-177 warnings add up', () => {
    expect(judge(needs(true, true, false), SYNC).warnings).toHaveLength(2)
  })
})

describe('patterns', () => {
  test.each([
    ['P-146 the cross-order pipeline', 0, ['cross-order pipeline', 'different', 'low', 'high']],
    ['P-147 cooperation in one order', 1, ['same-order cooperation', 'same', 'medium', 'medium']],
    ['P-148 the mixed mode', 2, ['mixed mode', 'both', 'high', 'high']],
  ] as const)('%s', (_, index, expected) => {
    const pattern = SHARING_PATTERNS[index]
    expect([pattern?.name, pattern?.orders, pattern?.complexity, pattern?.reliability]).toEqual(expected)
  })
})

describe('the examples that decisions name', () => {
  test('P-168 pipelineExample runs', async () => {
    const world = openPlanWorld()
    const plan = pipelineExample({ registry: world.registry })
    await world.clock.run(plan.Run())
    expect(plan.TaskData('load')).toBe(1)
  })

  test('P-168 realtimeCollaborationExample runs', async () => {
    const world = openPlanWorld()
    const plan = realtimeCollaborationExample({ registry: world.registry })
    await world.clock.run(plan.Run())
    expect(plan.Get('sum')).toBe(60)
  })

  test('P-168 independentDataExample runs and shares nothing', async () => {
    const world = openPlanWorld()
    const plan = independentDataExample({ registry: world.registry })
    await world.clock.run(plan.Run())
    expect([plan.TaskData('odd'), plan.TaskData('even')]).toEqual([9, 12])
  })

  test('P-172 buildETLPlan returns the plan of the pipeline example, otherwise nothing', () => {
    const { registry } = openPlanWorld()
    const plan = buildETLPlan({ recommendation: PIPELINE }, { registry })
    expect(plan?.id).toBe('pipeline-example')
    expect(plan?.Status()).toEqual(pipelineExample({ registry }).Status())
    expect(Object.keys(plan?.Status().tasks ?? {})).toEqual(['extract', 'clean', 'load'])
    expect(buildETLPlan({ recommendation: SYNC }, { registry })).toBeUndefined()
    expect(buildETLPlan({ recommendation: AVOID }, { registry })).toBeUndefined()
  })
})

describe('the quick tool', () => {
  interface Asked {
    readonly decision: SharingDecision
    readonly printed: string
  }

  async function ask(
    answers: string | undefined,
    decide?: (requirements: SharingRequirements) => SharingDecision,
  ): Promise<Asked> {
    const input = Object.assign(new PassThrough(), { isTTY: answers !== undefined })
    const output = new PassThrough()
    input.end(answers)
    const decision = await quickDecisionTool({ input, output, ...(decide === undefined ? {} : { decide }) })
    return { decision, printed: readAll(output) }
  }

  /** Newer versions of Node read one chunk at a time. */
  function readAll(output: PassThrough): string {
    const next = (): Buffer | null => output.read() as Buffer | null
    const chunks: string[] = []
    for (let chunk = next(); chunk !== null; chunk = next()) chunks.push(chunk.toString())
    return chunks.join('')
  }

  test('P-179 P-180 at a terminal it asks three questions', async () => {
    const { decision, printed } = await ask('y\nyes\nn\n')
    expect(decision.recommendation).toBe(PIPELINE)
    expect(printed.match(/\(y\/n\)/g)).toHaveLength(3)
  })

  test('P-180 without a terminal it assumes yes, yes, no and asks nothing', async () => {
    const { decision, printed } = await ask(undefined)
    expect(decision).toEqual(SharedSpaceDecisionMaker(needs(true, true, false)))
    expect(printed).not.toContain('(y/n)')
  })

  test('P-180 an unclear answer is asked again, and silence is an error', async () => {
    expect((await ask('perhaps\nY\nNO\nyes\n')).decision.recommendation).toBe(SYNC)
    await expect(ask('y\n')).rejects.toMatchObject({ code: 'plan/no-answer' })
    await expect(ask('a\nb\nc\nd\n')).rejects.toMatchObject({ code: 'plan/no-answer' })
  })

  test('P-181 it prints the reason and the pattern, or the alternative', async () => {
    expect((await ask('y\ny\nn\n')).printed).toMatch(/Pattern: cross-order pipeline\nReason: One task/)
    expect((await ask('y\nn\ny\n')).printed).toMatch(/Pattern: same order with synchronisation\nReason: /)
    expect((await ask('n\nn\nn\n')).printed).toMatch(/Instead: Use a message queue.*\nReason: /)
  })

  test('P-182 it prints where an example is, if any', async () => {
    expect((await ask('y\ny\nn\n')).printed).toContain('Example: pipelineExample()\n')
    expect((await ask('n\nn\nn\n')).printed).not.toContain('Example')
  })

  test('P-183 it prints every warning, of valid decisions too', async () => {
    expect((await ask('y\nn\nn\n')).printed).toMatch(/Not valid:\n- The tasks need to communicate/)
    const synced = SharedSpaceDecisionMaker(needs(true, false, true))
    const { printed } = await ask('y\ny\nn\n', () => synced)
    expect(printed).toMatch(/Warnings:\n- One task depends.*\n- The tasks need not/)
    expect((await ask('y\ny\nn\n')).printed).not.toContain('Warnings')
  })
})
