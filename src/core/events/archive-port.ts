/**
 * What the core needs of an archive: a table of the events of executions that are over. Adapters know rows and nothing else;
 * what a row means is the core's.
 */

export interface EventRow {
  readonly id: string
  /** Empty for the default tenant. */
  readonly tenant: string
  readonly execution: string
  readonly sequence: number
  readonly type: string
  readonly sourceType: string
  readonly sourceId: string
  /** JSON text of an object; reads back as the very same value. */
  readonly payload: string
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string
}

export interface ArchivePlace {
  readonly tenant: string
  readonly execution: string
}

export interface EventRowQuery extends ArchivePlace {
  /** One of these; an empty list finds nothing. */
  readonly types?: readonly string[]
  readonly sourceType?: string
  readonly sourceId?: string
  /** Included. */
  readonly start?: string
  /** Excluded. */
  readonly end?: string
  readonly order: 'ascending' | 'descending'
  /** Only behind this sequence number, in the direction of the order. */
  readonly after?: number
  readonly limit: number
}

/**
 * Calls that surely did nothing reject with kind `unavailable`, those whose answer was lost with kind `uncertain`; writing
 * and removing may always be repeated.
 */
export interface EventArchive {
  /** What it is, for messages. */
  readonly name: string
  /** All of them or none; rows that are there already are left as they are. */
  write(rows: readonly EventRow[]): Promise<void>
  read(query: EventRowQuery): Promise<readonly EventRow[]>
  /** Each type that the execution has events of, once. */
  listTypes(place: ArchivePlace): Promise<readonly string[]>
  /** How many events of the execution are stored for good. */
  count(place: ArchivePlace): Promise<number>
  /** Removes an execution's events, and tells how many there were. */
  remove(place: ArchivePlace): Promise<number>
  close(): Promise<void>
}
