/** Values on their way to a driver. */

/** The same memory as a `Buffer`, which drivers ask for; nothing is copied. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}
