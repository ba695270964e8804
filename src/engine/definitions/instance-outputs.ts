/** Puts what a template gives out in the place of `${INSTANCE.output.NAME}`. */

import type { Json, JsonObject } from '../../base/json.ts'
import type { PipelineDocument } from './document.ts'
import type { ExpandedDocument, Instance, PlacedUnit, PlainUnitDocument } from './expand-templates.ts'
import { findReferences, followRest, replaceReferences } from './references.ts'
import { didYouMean, type Path, type ShapeProblem } from './shape.ts'

export interface FilledDocument {
  readonly units: readonly PlacedUnit[]
  readonly output: JsonObject | undefined
  readonly problems: readonly ShapeProblem[]
}

export function fillInstanceOutputs(
  { output }: PipelineDocument,
  { units, instances }: ExpandedDocument,
): FilledDocument {
  if (instances.size === 0) return { units, output, problems: [] }
  const filler = new Filler(instances)
  const filled = units.map((unit) => filler.fillUnit(unit))
  return {
    units: filled,
    output: output && (filler.fill(output, ['output']) as JsonObject),
    problems: filler.problems,
  }
}

class Filler {
  readonly problems: ShapeProblem[] = []
  private readonly instances: ReadonlyMap<string, Instance>

  constructor(instances: ReadonlyMap<string, Instance>) {
    this.instances = instances
  }

  fillUnit(placed: PlacedUnit): PlacedUnit {
    return {
      ...placed,
      unit: this.fill(placed.unit as unknown as JsonObject, placed.path) as unknown as PlainUnitDocument,
      rows: placed.rows.map((row) => ({ ...row, units: row.units.map((unit) => this.fillUnit(unit)) })),
    }
  }

  /** An output may use another instance's, so this repeats; no chain is longer than there are instances. */
  fill(value: Json, path: Path): Json {
    let at = value
    for (let round = 0; round <= this.instances.size; round += 1) {
      if (!findReferences(at).some(({ root }) => this.instances.has(root))) return at
      const before = this.problems.length
      at = replaceReferences(at, ({ root, rest }) => {
        const instance = this.instances.get(root)
        return instance === undefined
          ? undefined
          : { by: 'value', value: this.outputOf(instance, rest, path) }
      })
      if (this.problems.length > before) return at
    }
    this.problems.push({ path, message: 'the outputs of templates refer to each other in a circle' })
    return at
  }

  private outputOf({ name, output }: Instance, rest: string, path: Path): Json {
    const [, key = ''] = /^\.output\.([A-Za-z0-9_-]+)/.exec(rest) ?? []
    const value = output[key]
    const found = value === undefined ? undefined : followRest(value, rest.slice(`.output.${key}`.length))
    if (found !== undefined) return found
    const known = Object.keys(output)
    const outputs = known.length === 0 ? 'none' : known.join(', ')
    this.problems.push({
      path,
      message: `\${${name}${rest}} is no output of "${name}"; its template has ${outputs}${didYouMean(key, known)}`,
    })
    return null
  }
}
