/** Plain values as Lua source. Text goes byte by byte, so that no content can end its literal or lose a NUL. */

export type LuaValue =
  string | number | boolean | null | readonly LuaValue[] | { readonly [key: string]: LuaValue }

/** Assignments of globals, one a line. Names must be plain identifiers. */
export function toLuaSource(globals: Readonly<Record<string, LuaValue>>): string {
  return Object.entries(globals)
    .map(([name, value]) => `${name} = ${toLuaLiteral(value)}`)
    .join('\n')
}

export function toLuaLiteral(value: LuaValue): string {
  if (value === null) return 'nil'
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'nil'
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return `{${(value as readonly LuaValue[]).map(toLuaLiteral).join(',')}}`
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
