/** Plain values as Lua source. Strings go byte by byte, so that no content can end its literal or lose a NUL. */

/** Assignments of globals, one a line. Names must be plain identifiers. */
export function toLuaSource(globals: Readonly<Record<string, unknown>>): string {
  return Object.entries(globals)
    .map(([name, value]) => `${name} = ${toLuaLiteral(value)}`)
    .join('\n')
}

/** What Lua has no value for is nil. */
function toLuaLiteral(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value)
  if (Array.isArray(value)) return `{${value.map(toLuaLiteral).join(',')}}`
  if (typeof value !== 'object' || value === null) return 'nil'
  const fields = Object.entries(value).map(([key, field]) => `[${quote(key)}]=${toLuaLiteral(field)}`)
  return `{${fields.join(',')}}`
}

function quote(text: string): string {
  let quoted = ''
  for (const byte of Buffer.from(text)) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c
    quoted += isPlain ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`
  }
  return `"${quoted}"`
}
