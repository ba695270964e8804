/** Values for drivers. */

/** The same memory as a `Buffer`, as drivers require; without a copy. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
