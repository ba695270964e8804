/** What the form of a document cannot show: names that are not there, conditions that cannot be read, schedules. */

import type { Json } from '../../base/json.ts'
import { valuesOf } from './build-unit.ts'
import { readCondition } from './conditions.ts'
import type { PipelineDocument, PolicyDocument } from './document.ts'
import type { Instance } from './expand-templates.ts'
import { findReferences, type Reference } from './references.ts'
import { findScheduleProblems } from './schedule.ts'
import { didYouMean, type Path, type ShapeProblem } from './shape.ts'
import { quote } from './values.ts'
import { knownNames, type Place, type Places } from './unit-places.ts'

export interface Meaning {
  readonly document: PipelineDocument
  readonly places: Places
  readonly instances: ReadonlyMap<string, Instance>
}

export function checkMeaning(of: Meaning): readonly ShapeProblem[] {
  const check = new MeaningCheck(of)
  return [
    ...of.places.all.flatMap((place) => check.unit(place)),
    ...[...of.instances.values()].flatMap(({ after, path }) => check.after(after, path)),
    ...check.values(of.document.output ?? {}, ['output']),
    ...check.policy(of.document.policy ?? {}),
    ...Object.entries(of.document.schedules ?? {}).flatMap(([name, schedule]) =>
      findScheduleProblems(schedule).map((message) => ({ path: ['schedules', name], message })),
    ),
  ]
}

/** First words of variables and events that belong to no unit. */
const OTHER_EVENTS = ['pipeline', 'system', 'external']
const OTHER_VARIABLES = ['pipeline', 'system', 'shared']

class MeaningCheck {
  private readonly names: readonly string[]
  private readonly inputs: readonly string[] | undefined

  constructor({ document, places }: Meaning) {
    this.names = knownNames(places)
    this.inputs = document.input === undefined ? undefined : Object.keys(document.input)
  }

  unit({ placed }: Place): readonly ShapeProblem[] {
    const { unit, path } = placed
    const conditions = [
      ['onlyIf', unit.onlyIf],
      ['startWhen', unit.startWhen],
      ['while', 'while' in unit ? unit.while : undefined],
    ] as const
    return [
      ...this.after(unit.after ?? [], path),
      ...valuesOf(unit).flatMap(([field, value]) => this.values(value, [...path, field])),
      ...conditions.flatMap(([field, text]) =>
        text === undefined ? [] : this.condition(text, [...path, field]),
      ),
      ...this.parts(placed),
    ]
  }

  after(names: readonly string[], path: Path): readonly ShapeProblem[] {
    return names.flatMap((name, index) =>
      this.names.includes(name)
        ? []
        : [{ path: [...path, 'after', index], message: this.noUnit(name, this.names) }],
    )
  }

  values(value: Json, path: Path): readonly ShapeProblem[] {
    return findReferences(value, path).flatMap((reference) => {
      const message = this.judge(reference)
      return message === undefined ? [] : [{ path: reference.path, message }]
    })
  }

  policy({ verify }: PolicyDocument): readonly ShapeProblem[] {
    if (verify === undefined) return []
    return 'condition' in verify
      ? this.condition(verify.condition, ['policy', 'verify', 'condition'])
      : this.values(verify.input ?? {}, ['policy', 'verify', 'input'])
  }

  private judge({ root, rest }: Reference): string | undefined {
    if (root === 'CPEWF_TASK_ID') return undefined
    if (root === 'workflow') return this.judgeInput(rest)
    if (this.names.includes(root)) return undefined
    const meant = didYouMean(root, [...this.names, 'workflow'])
    return `\${${root}${rest}}: there is no unit "${root}"${meant}`
  }

  private judgeInput(rest: string): string | undefined {
    const [, name] = /^\.input\.([A-Za-z0-9_-]+)/.exec(rest) ?? []
    if (name === undefined || this.inputs === undefined || this.inputs.includes(name)) return undefined
    return `\${workflow.input.${name}}: there is no input "${name}"${didYouMean(name, this.inputs)}`
  }

  private condition(text: string, path: Path): readonly ShapeProblem[] {
    const read = readCondition(text)
    if (!read.isRead) return [{ path, message: read.message }]
    const unknown = (dotted: readonly string[], others: readonly string[]): string[] =>
      dotted
        .map((one) => (one.split('.')[0] ?? '').replace(/__\d+$/, ''))
        .filter((first) => !others.includes(first) && !this.names.includes(first))
    const names = [...unknown(read.events, OTHER_EVENTS), ...unknown(read.variables, OTHER_VARIABLES)]
    return [...new Set(names)].map((name) => ({
      path,
      message: this.noUnit(name, [...this.names, ...OTHER_EVENTS, ...OTHER_VARIABLES]),
    }))
  }

  private parts({ unit, path }: Place['placed']): readonly ShapeProblem[] {
    if ('wait' in unit) return checkWait(unit.wait, [...path, 'wait'])
    if ('each' in unit && !isListOrExpression(unit.each))
      return [
        {
          path: [...path, 'each'],
          message: `must be a list, or one expression: \${…}, and is ${quote(unit.each)}`,
        },
      ]
    if ('switch' in unit && Object.hasOwn(unit.cases, 'default'))
      return [
        {
          path: [...path, 'cases', 'default'],
          message: 'a case cannot be named "default": write "default" beside "cases"',
          isAboutKey: true,
        },
      ]
    return []
  }

  private noUnit(name: string, candidates: readonly string[]): string {
    return `there is no unit "${name}"${didYouMean(name, candidates)}`
  }
}

/** The value of a template's parameter may be anything. */
function isListOrExpression(value: Json): boolean {
  return Array.isArray(value) || (typeof value === 'string' && /^\s*\$\{[^{}]+\}\s*$/.test(value))
}

function checkWait(
  { for: duration, until, events, which, timeout }: Readonly<Record<string, unknown>>,
  path: Path,
): readonly ShapeProblem[] {
  const ways = [duration, until, events].filter((way) => way !== undefined).length
  if (ways !== 1) return [{ path, message: 'must have exactly one of "for", "until" and "events"' }]
  if (events === undefined && (which !== undefined || timeout !== undefined))
    return [{ path, message: '"which" and "timeout" belong to "events"' }]
  return []
}
