/** How far a rollback goes. Pure. */

import type { Schemas } from '../../api.ts'

export type Level = Schemas['RollbackLevel']

export const LEVELS: Readonly<Record<Level, string>> = {
  'last-good': 'to the last checkpoint that can be read',
  checkpoint: 'to a checkpoint',
  phase: 'by a phase, with all that depends on it',
  unit: 'by a unit, with all that depends on it',
  execution: 'to the beginning',
  artifact: 'the files of one unit, and nothing runs again',
}

export interface Chosen {
  readonly level: Level
  /** Of the checkpoint, phase or unit. */
  readonly name: string
}

/** `undefined` while the name that the level needs is missing. */
export function scopeOf({ level, name }: Chosen): Schemas['RollbackScope'] | undefined {
  if (level === 'last-good' || level === 'execution') return { level }
  if (name.trim() === '') return undefined
  if (level === 'checkpoint') return { level, checkpoint_id: name }
  return level === 'phase' ? { level, phase: name } : { level, unit: name }
}
