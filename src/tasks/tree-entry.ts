/** An entry of a directory, known without opening it. */

export type TreeEntry =
  | {
      readonly kind: 'file'
      readonly path: string
      readonly facts: FileFacts
      readonly permissions: FilePermissions
    }
  /** Neither a file nor a directory, or one that cannot be read; `what` ends a sentence about it. */
  | { readonly kind: 'other'; readonly path: string; readonly what: string }

/** Attributes of a file that are not published. */
export interface FilePermissions {
  /** Permission bits, with set-user-id and similar ones. */
  readonly mode: number
  /** Number of hard links. */
  readonly links: number
  readonly owner: number
}

export interface FileFacts {
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
}
