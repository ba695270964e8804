/**
 * The parts of prom-client that are used here. Its index also loads what pushes metrics and looks at the process, which takes
 * ten times as long and as much memory.
 */

import { createRequire } from 'node:module'
import type * as Whole from 'prom-client'
import { loadPart } from '../../base/load-part.ts'

const load = createRequire(import.meta.url)

function part<Name extends 'Counter' | 'Gauge' | 'Histogram' | 'Registry'>(name: Name): (typeof Whole)[Name] {
  const found = loadPart(`prom-client/lib/${name.toLowerCase()}.js`)
  return found === undefined ? (load('prom-client') as typeof Whole)[name] : (found as (typeof Whole)[Name])
}

export const Counter = part('Counter')
export type Counter<Label extends string = string> = Whole.Counter<Label>
export const Gauge = part('Gauge')
export const Histogram = part('Histogram')
export type Histogram<Label extends string = string> = Whole.Histogram<Label>
export const Registry = part('Registry')
export type Registry = Whole.Registry
