/** What is found in a directory, without opening it. */

export type TreeEntry =
  | {
      readonly kind: 'file'
      readonly path: string
      readonly facts: FileFacts
      readonly permissions: FilePermissions
    }
  /** Neither a file nor a directory, or one that cannot be named or read; `what` ends a sentence about it. */
  | { readonly kind: 'other'; readonly path: string; readonly what: string }

/** What a file has beside its content, none of which is published. */
export interface FilePermissions {
  /** The permissions, with the bits for set-user-id and the like. */
  readonly mode: number
  /** How many names it has. */
  readonly links: number
  readonly owner: number
}

export interface FileFacts {
  readonly sizeBytes: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly inode: bigint
}
