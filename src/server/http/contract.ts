/** The description of this API, as it is shipped with the package and served by the server. */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface Contract {
  readonly yaml: string
  readonly json: string
}

/** Read from the package each time; a server does it once. */
export function readContract(): Contract {
  const yaml = readFileSync(new URL('../../../openapi/perago.yaml', import.meta.url), 'utf8')
  return { yaml, json: JSON.stringify(parse(yaml)) }
}
