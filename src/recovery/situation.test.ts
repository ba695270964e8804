// Goal: every combination of facts has one name and one plan, and no plan can lose a commit.
// Method: all combinations are tried; each row of the table has an example of its own.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isNormal, planRecovery, type RecoveryAction } from './plan.ts'
import { FACT_VALUES, judgeSituation, SITUATIONS, type Situation, type SituationFacts } from './situation.ts'

const CALM: SituationFacts = {
  ...{ stand: 'at-input', head: 'other', task: 'open' },
  ...{ output: 'none', result: 'none', staged: 'none', others: 'none' },
}

function allFacts(): SituationFacts[] {
  let found: Record<string, string>[] = [{}]
  for (const [fact, values] of Object.entries(FACT_VALUES))
    found = found.flatMap((before) => values.map((value) => ({ ...before, [fact]: value })))
  return found as SituationFacts[]
}

const ALL = allFacts()
const anyFacts = fc.record(
  Object.fromEntries(Object.entries(FACT_VALUES).map(([fact, values]) => [fact, fc.constantFrom(...values)])),
) as unknown as fc.Arbitrary<SituationFacts>

describe('the table', () => {
  test('RE-1 every combination of facts is exactly one situation, and every situation occurs', () => {
    const seen = new Set(ALL.map(judgeSituation))
    expect([...seen].sort()).toEqual(Object.keys(SITUATIONS).sort())
    expect(ALL).toHaveLength(8 * 3 * 5 * 5 * 3 * 2 * 2)
  })

  test.each<[Situation, Partial<SituationFacts>, readonly RecoveryAction[]]>([
    ['branch-missing', { stand: 'missing' }, []],
    ['claim-left', { stand: 'claim', task: 'none' }, ['finish-claim']],
    ['claim-left', { stand: 'claim', others: 'open' }, []],
    ['not-published-here', { stand: 'no-input', task: 'none' }, []],
    ['task-unknown', { stand: 'above-input', head: 'own', task: 'unknown' }, ['quarantine']],
    ['two-writers', { stand: 'above-input', others: 'open' }, []],
    ['taken-over', { stand: 'above-input', task: 'failed', others: 'open' }, []],
    ['result-waiting', { stand: 'above-input', head: 'own', result: 'waiting' }, ['resend']],
    ['running', {}, []],
    ['published-unreported', { stand: 'above-input', head: 'own' }, ['adopt', 'relocate']],
    ['published-unreported', { stand: 'above-input', head: 'own', result: 'refused' }, ['adopt', 'relocate']],
    ['forward-unreported', { stand: 'forward', head: 'own' }, ['adopt', 'relocate']],
    ['branch-moved', { stand: 'forward', head: 'other' }, ['quarantine']],
    ['branch-moved', { stand: 'forward', head: 'other', task: 'failed' }, ['restart', 'quarantine']],
    ['task-unknown', { stand: 'forward', head: 'other', task: 'unknown' }, ['quarantine']],
    ['foreign-above-input', { stand: 'above-input', head: 'foreign' }, ['quarantine']],
    [
      'foreign-above-input',
      { stand: 'above-input', head: 'other', task: 'failed', staged: 'kept' },
      ['restart', 'quarantine', 'replace'],
    ],
    ['branch-moved', { stand: 'beyond', task: 'failed' }, ['restart', 'quarantine']],
    ['branch-moved', { stand: 'elsewhere', task: 'failed' }, ['restart']],
    ['done', { stand: 'above-input', task: 'completed', output: 'head' }, []],
    ['moved-on', { stand: 'beyond', task: 'completed', output: 'history' }, []],
    ['output-off-branch', { task: 'completed', output: 'ahead' }, ['relocate']],
    ['output-off-branch', { task: 'completed', output: 'off-branch' }, []],
    ['failed-unpublished', { task: 'failed' }, ['restart']],
    ['refused-work-kept', { task: 'failed', staged: 'kept' }, ['restart', 'replace']],
    [
      'abandoned-publication',
      { stand: 'above-input', head: 'own', task: 'failed' },
      ['relocate', 'quarantine', 'restart'],
    ],
    [
      'abandoned-publication',
      { stand: 'forward', head: 'own', task: 'failed' },
      ['relocate', 'quarantine', 'restart'],
    ],
  ])('RE-2 %s is told from %j, and offers %j', (situation, facts, actions) => {
    const whole = { ...CALM, ...facts }
    expect(judgeSituation(whole)).toBe(situation)
    expect(planRecovery(situation, whole).offered.map(({ action }) => action)).toEqual(actions)
  })
})

test('EX-26 of a claim is not said which fence was there, because a soft one leaves claims as well', () => {
  expect(SITUATIONS['claim-left'].says).toMatch(/is a claim/)
  expect(SITUATIONS['claim-left'].says).not.toMatch(/fence/)
})

describe('the plans', () => {
  const planOf = (facts: SituationFacts) => planRecovery(judgeSituation(facts), facts)

  test('RE-3 no plan moves a branch before its head is kept', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        for (const { steps } of planOf(facts).offered) {
          const kept = steps.findIndex((step) => step.do === 'keep-head')
          const moved = steps.findIndex((step) => step.do === 'move-branch')
          if (moved !== -1) expect([kept >= 0, kept < moved]).toEqual([true, true])
        }
      }),
    )
  })

  test('RE-4 no branch is moved, and no workflow started, while another open workflow may write the branch', () => {
    const acts = ALL.filter(({ others }) => others === 'open').flatMap((facts) =>
      planOf(facts).offered.flatMap(({ steps }) => steps.map((step) => step.do)),
    )
    expect(new Set(acts)).toEqual(new Set())
  })

  test('RE-5 there is at most one default; where nothing is wrong there is none, and none asks for a reason', () => {
    fc.assert(
      fc.property(anyFacts, (facts) => {
        const plan = planOf(facts)
        const defaults = plan.offered.filter(({ isDefault }) => isDefault)
        expect(defaults.length).toBeLessThanOrEqual(isNormal(plan.situation) ? 0 : 1)
        expect(defaults.some(({ needsReason }) => needsReason)).toBe(false)
      }),
    )
  })

  test('RE-3 a plan only names what the facts say is there', () => {
    for (const facts of ALL) {
      const targets = planOf(facts).offered.flatMap(({ steps }) =>
        steps.flatMap((step) => (step.do === 'move-branch' ? [step.to] : [])),
      )
      if (targets.includes('staged')) expect(facts.staged).toBe('kept')
      if (targets.includes('output')) expect(facts.output).toBe('ahead')
      if (targets.includes('claimed')) expect(facts.stand).toBe('claim')
      if (targets.includes('input')) expect(['above-input', 'forward', 'beyond']).toContain(facts.stand)
    }
  })
})
