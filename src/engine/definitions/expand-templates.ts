/**
 * Puts the units of templates in the place of their instances, and gives every unit its place in the document. What is left
 * has no templates any more.
 */

import type { Json, JsonObject } from '../../base/json.ts'
import { PIPELINE_DEPTH_MAX, PIPELINE_UNITS_READ_MAX } from '../limits.ts'
import { renameInCondition } from './conditions.ts'
import type {
  InstanceDocument,
  PipelineDocument,
  TemplateDocument,
  UnitDocument,
  UnitDocuments,
} from './document.ts'
import { followRest, replaceReferences, type InnerReplacement } from './references.ts'
import { didYouMean, type Path, type ShapeProblem } from './shape.ts'

export type PlainUnitDocument = Exclude<UnitDocument, InstanceDocument>

/** A unit, and where it is written. */
export interface PlacedUnit {
  readonly name: string
  readonly path: Path
  readonly unit: PlainUnitDocument
  readonly rows: readonly PlacedRow[]
  /** The instance of a template that it belongs to, the innermost one. */
  readonly instance: string | undefined
}

/** Units inside another one. */
export interface PlacedRow {
  /** Of a `switch` or `if`; `undefined` in a loop. */
  readonly case: string | undefined
  readonly units: readonly PlacedUnit[]
}

export interface Instance {
  readonly name: string
  readonly path: Path
  readonly outer: string | undefined
  readonly after: readonly string[]
  readonly output: JsonObject
}

export interface ExpandedDocument {
  readonly units: readonly PlacedUnit[]
  readonly instances: ReadonlyMap<string, Instance>
  readonly problems: readonly ShapeProblem[]
}

export function expandTemplates(document: PipelineDocument): ExpandedDocument {
  const expansion = new Expansion(document.templates ?? {})
  const units = expansion.place(document.units, ['units'], TOP)
  return { units, instances: expansion.instances, problems: expansion.problems }
}

/** What the units of a row have in common. */
interface Surroundings {
  readonly depth: number
  /** The templates being filled in, outermost first. */
  readonly templates: readonly string[]
  readonly instance: string | undefined
  readonly adapt: <Value extends Json>(value: Value) => Value
  /** The same where only text is possible. */
  readonly adaptText: (value: Json) => Json
  readonly rename: (name: string) => string
}

const TOP: Surroundings = {
  depth: 0,
  templates: [],
  instance: undefined,
  adapt: (value) => value,
  adaptText: (value) => value,
  rename: (name) => name,
}

class Expansion {
  readonly instances = new Map<string, Instance>()
  readonly problems: ShapeProblem[] = []
  private readonly templates: Readonly<Record<string, TemplateDocument>>
  private count = 0

  constructor(templates: Readonly<Record<string, TemplateDocument>>) {
    this.templates = templates
  }

  place(units: UnitDocuments, path: Path, around: Surroundings): readonly PlacedUnit[] {
    if (around.depth > PIPELINE_DEPTH_MAX) {
      this.problems.push({ path, message: `units are nested more than ${PIPELINE_DEPTH_MAX} deep` })
      return []
    }
    return Object.entries(units).flatMap(([name, unit]) => {
      const at = [...path, name]
      if (this.isFull(at)) return []
      return 'template' in unit
        ? this.fillIn(name, unit, { path: at, around })
        : [this.placeOne(name, unit, { path: at, around })]
    })
  }

  private isFull(path: Path): boolean {
    this.count += 1
    if (this.count === PIPELINE_UNITS_READ_MAX + 1)
      this.problems.push({ path, message: `there are more than ${PIPELINE_UNITS_READ_MAX} units` })
    return this.count > PIPELINE_UNITS_READ_MAX
  }

  private placeOne(
    name: string,
    unit: PlainUnitDocument,
    { path, around }: { readonly path: Path; readonly around: Surroundings },
  ): PlacedUnit {
    const deeper = { ...around, depth: around.depth + 1 }
    const rows = rowsOf(unit).map(({ at, units, ...row }) => ({
      ...row,
      units: this.place(units, [...path, ...at], deeper),
    }))
    return {
      name: around.rename(name),
      path,
      unit: adaptUnit(unit, around),
      rows,
      instance: around.instance,
    }
  }

  private fillIn(
    written: string,
    unit: InstanceDocument,
    { path, around }: { readonly path: Path; readonly around: Surroundings },
  ): readonly PlacedUnit[] {
    const template = Object.hasOwn(this.templates, unit.template) ? this.templates[unit.template] : undefined
    if (template === undefined) {
      const meant = didYouMean(unit.template, Object.keys(this.templates))
      this.problems.push({
        path: [...path, 'template'],
        message: `there is no template "${unit.template}"${meant}`,
      })
      return []
    }
    if (around.templates.includes(unit.template)) {
      const circle = [...around.templates, unit.template].join(' → ')
      this.problems.push({ path: [...path, 'template'], message: `a template contains itself: ${circle}` })
      return []
    }
    const name = around.rename(written)
    const given = around.adapt(unit.with ?? {})
    const values = this.valuesOf(template, given, path)
    const own = new Set(namesIn(template.units))
    const rename = (inner: string): string => (own.has(inner) ? `${name}_${inner}` : inner)
    const inside: Surroundings = {
      depth: around.depth + 1,
      templates: [...around.templates, unit.template],
      instance: name,
      rename,
      adapt: (value) => replaceReferences(value, replacement(values, rename)) as typeof value,
      adaptText: (value) => replaceReferences(value, asText(replacement(values, rename))),
    }
    this.instances.set(name, {
      name,
      path,
      outer: around.instance,
      after: (unit.after ?? []).map(around.rename),
      output: inside.adapt(template.output ?? {}),
    })
    return this.place(template.units, ['templates', unit.template, 'units'], inside)
  }

  /** The value of each parameter: the given one, or its default. */
  private valuesOf(template: TemplateDocument, given: JsonObject, path: Path): JsonObject {
    const parameters = template.parameters ?? {}
    for (const key of Object.keys(given).filter((one) => !Object.hasOwn(parameters, one)))
      this.problems.push({
        path: [...path, 'with', key],
        message: `the template has no parameter "${key}"${didYouMean(key, Object.keys(parameters))}`,
        isAboutKey: true,
      })
    return Object.fromEntries(
      Object.entries(parameters).flatMap(([key, parameter]) => {
        const value = Object.hasOwn(given, key) ? given[key] : parameter.default
        if (value !== undefined) return [[key, value] as const]
        this.problems.push({ path, message: `the template needs a value for its parameter "${key}"` })
        return []
      }),
    )
  }
}

function replacement(values: JsonObject, rename: (name: string) => string): InnerReplacement {
  return ({ root, rest }) => {
    if (root !== 'template') {
      const renamed = rename(root)
      return renamed === root ? undefined : { by: 'name', inner: `${renamed}${rest}` }
    }
    const [matched = '', key = ''] = /^\.([A-Za-z0-9_-]+)/.exec(rest) ?? []
    const value = values[key]
    const found = value === undefined ? undefined : followRest(value, rest.slice(matched.length))
    // What is not there stays as it is, and is reported as an unknown name.
    return found === undefined ? undefined : { by: 'value', value: found }
  }
}

function asText(replace: InnerReplacement): InnerReplacement {
  return (inner) => {
    const found = replace(inner)
    return found?.by !== 'value' || typeof found.value === 'string'
      ? found
      : { by: 'value', value: JSON.stringify(found.value) }
  }
}

/** Fields of a unit that may hold any value. */
const JSON_FIELDS = new Set(['workspace', 'params', 'input', 'each', 'set', 'output', 'undo', 'human'])

/** The unit with the names and values of its instance. */
function adaptUnit(unit: PlainUnitDocument, { adapt, adaptText, rename }: Surroundings): PlainUnitDocument {
  if (rename === TOP.rename) return unit
  // `Json` because a document is plain data; its form was checked before.
  const adapted = Object.fromEntries(
    Object.entries(unit as unknown as JsonObject).map(([key, value]) => [
      key,
      JSON_FIELDS.has(key) ? adapt(value) : adaptText(value),
    ]),
  ) as unknown as PlainUnitDocument
  const condition = (text: string | undefined): string | undefined =>
    text === undefined ? undefined : renameInCondition(text, rename)
  const { after, onlyIf, startWhen } = adapted
  return {
    ...adapted,
    ...(after === undefined ? {} : { after: after.map(rename) }),
    ...(onlyIf === undefined ? {} : { onlyIf: condition(onlyIf) }),
    ...(startWhen === undefined ? {} : { startWhen: condition(startWhen) }),
    ...('while' in adapted ? { while: renameInCondition(adapted.while, rename) } : {}),
    ...('wait' in adapted && adapted.wait.events !== undefined
      ? { wait: { ...adapted.wait, events: adapted.wait.events.map((type) => renameEvent(type, rename)) } }
      : {}),
  } as PlainUnitDocument
}

function renameEvent(type: string, rename: (name: string) => string): string {
  const [first = '', ...rest] = type.split('.')
  return [rename(first), ...rest].join('.')
}

interface DocumentRow {
  readonly at: Path
  readonly case: string | undefined
  readonly units: UnitDocuments
}

/** The rows of units inside a unit. */
function rowsOf(unit: UnitDocument): readonly DocumentRow[] {
  const row = (at: Path, inCase: string | undefined, units: UnitDocuments | undefined): DocumentRow[] =>
    units === undefined ? [] : [{ at, case: inCase, units }]
  if ('switch' in unit)
    return [
      ...Object.entries(unit.cases).flatMap(([name, units]) => row(['cases', name], name, units)),
      ...row(['default'], 'default', unit.default),
    ]
  if ('if' in unit) return [...row(['then'], 'true', unit.then), ...row(['else'], 'default', unit.else)]
  if ('each' in unit || 'while' in unit) return row(['units'], undefined, unit.units)
  return []
}

/** The names of units at any depth, as written. */
function namesIn(units: UnitDocuments): readonly string[] {
  return Object.entries(units).flatMap(([name, unit]) => [
    name,
    ...rowsOf(unit).flatMap((row) => namesIn(row.units)),
  ])
}
