/** Keys as settings have them: `ID=BASE64`, separated by commas or white space. */

/** `undefined`: it has another form, or there is none. */
export function readKeyPairs(text: string): readonly (readonly [id: string, key: Uint8Array])[] | undefined {
  const found = text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map((part) => /^([^=]+)=(.+)$/.exec(part))
  const pairs = found.flatMap((match) => {
    const [, id, key] = match ?? []
    return id === undefined || key === undefined ? [] : [[id, Buffer.from(key, 'base64')] as const]
  })
  return pairs.length === 0 || pairs.length < found.length ? undefined : pairs
}
