/** What the core needs of an archive: a table of the events of ended executions. Adapters know only rows. */

export interface EventRow {
  readonly id: string
  /** Empty for the default tenant. */
  readonly tenant: string
  readonly execution: string
  readonly sequence: number
  readonly type: string
  readonly sourceType: string
  readonly sourceId: string
  /** JSON text of an object; reads back as the same value. */
  readonly payload: string
  /** ISO 8601 in UTC, with milliseconds. */
  readonly timestamp: string
}

/** Instead of the kind of a source: the row is sealed, and its payload holds the source as well. */
export const SEALED_SOURCE = 'sealed'

export interface ArchivePlace {
  /** Empty for the default tenant. */
  readonly tenant: string
  /** The id of an execution. */
  readonly execution: string
}

export interface EventRowQuery extends ArchivePlace {
  /** One of these; an empty list finds nothing. */
  readonly types?: readonly string[] | undefined
  /** A sealed archive returns rows of other sources as well. */
  readonly sourceType?: string | undefined
  readonly sourceId?: string | undefined
  /** Included. */
  readonly start?: string | undefined
  /** Excluded. */
  readonly end?: string | undefined
  readonly order: 'ascending' | 'descending'
  /** Only after this sequence number, in the direction of the order. */
  readonly after?: number | undefined
  readonly limit: number
}

/**
 * A call that did nothing rejects with kind `unavailable`, one whose response was lost with kind `uncertain`. Writes and
 * removals can always be repeated.
 */
export interface EventArchive {
  /** The kind of archive, for messages. */
  readonly name: string
  /** All of them or none. Existing rows are not changed. */
  write(rows: readonly EventRow[]): Promise<void>
  read(query: EventRowQuery): Promise<readonly EventRow[]>
  /** The event types of the execution, each once. */
  listTypes(place: ArchivePlace): Promise<readonly string[]>
  /** How many events of the execution are stored durably. */
  count(place: ArchivePlace): Promise<number>
  /** Removes the events of an execution, and returns how many there were. */
  remove(place: ArchivePlace): Promise<number>
  /** What it takes on its disk, about; absent where that is not cheap to know. */
  readonly sizeBytes?: (() => Promise<number>) | undefined
  close(): Promise<void>
}

/** Where a row is in the order of a walk. */
export type RowPlace = ArchivePlace & Pick<EventRow, 'sequence'>

/** An archive that can be walked as a whole, to be checked or encrypted again. */
export interface WalkableArchive extends EventArchive {
  /** Rows of all executions, by execution, tenant and sequence. Where the database cannot read a payload, it is empty. */
  list(request: {
    readonly after?: RowPlace | undefined
    readonly limit: number
  }): Promise<readonly EventRow[]>
  /** Stores the sources and payloads of these rows again, as far as the rows exist; all or none. */
  rewrite(rows: readonly EventRow[]): Promise<void>
}
