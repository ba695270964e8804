/** What is said between whoever writes files and the thread that hashes them. */

export type ToHashThread =
  | { readonly type: 'open'; readonly id: number; readonly path: string }
  /** So many bytes of the file are there. */
  | { readonly type: 'reach'; readonly id: number; readonly bytes: number }
  /** The MD5 of so many bytes is wanted; they are there. */
  | { readonly type: 'digest'; readonly id: number; readonly bytes: number }
  | { readonly type: 'drop'; readonly id: number }

export type FromHashThread =
  { readonly id: number; readonly md5: string } | { readonly id: number; readonly error: string }
