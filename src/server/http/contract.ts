/** The description of this API, as the package contains it and the server serves it. */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface Contract {
  readonly yaml: string
  readonly json: string
}

/** Reads the file; a server calls it once. */
export function readContract(): Contract {
  const yaml = readFileSync(new URL('../../../openapi/perago.yaml', import.meta.url), 'utf8')
  return { yaml, json: JSON.stringify(parse(yaml)) }
}
