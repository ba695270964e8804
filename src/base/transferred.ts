/** How much of some files has been fetched or sent. */
export interface Transferred {
  readonly files: number
  readonly bytes: number
  readonly filesTotal: number
  readonly bytesTotal: number
}
