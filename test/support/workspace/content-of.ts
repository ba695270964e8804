import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

/** What a file that is to be uploaded holds, whichever way it is opened. */
export async function contentOf({ open }: { readonly open: () => Readable | Uint8Array }): Promise<Buffer> {
  const opened = open()
  return opened instanceof Uint8Array ? Buffer.from(opened) : buffer(opened)
}
