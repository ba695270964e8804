/** What a check of a data directory finds. */

export interface Damage {
  readonly kind: 'object' | 'tree' | 'commit' | 'metadata' | 'file'
  readonly file: string
  readonly repository?: string
  /** With a branch or tag: it shows the damage now. Without: only the history does. */
  readonly branch?: string
  readonly tag?: string
  readonly commit?: string
  readonly path?: string
  readonly isUncommitted?: true
  readonly what: string
  /** What to do about it. */
  readonly next: string
}

/** Gets each damage as it is found. */
export type Tell = (damage: Damage) => void

export const RESTORE = 'Restore the data directory from a copy.'
