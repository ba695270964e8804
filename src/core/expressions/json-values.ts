/** Reading own data properties of plain objects and arrays: never a prototype, a getter or a value that is not JSON. */

export function readPath(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value
  for (const step of path) {
    found = readMember(found, step)
    if (found === undefined) return undefined
  }
  return found
}

function readMember(holder: unknown, step: string | number): unknown {
  // An array's "length" is an own property too, but not an element.
  if (Array.isArray(holder) ? typeof step !== 'number' : typeof step !== 'string' || !isPlain(holder)) {
    return undefined
  }
  const property = Object.getOwnPropertyDescriptor(holder, step)
  return property?.enumerable === true ? (property.value as unknown) : undefined
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** Deep equality as JSON, without conversion; the order of properties does not matter. */
export function areEqual(left: unknown, right: unknown): boolean {
  const pairs: [unknown, unknown][] = [[left, right]]
  // No recursion: values may be nested as deep as their size allows.
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, other] = pair
    if (one === other) continue
    const members = pairMembers(one, other)
    if (members === undefined) return false
    for (const member of members) pairs.push(member)
  }
  return true
}

function pairMembers(one: unknown, other: unknown): readonly [unknown, unknown][] | undefined {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length
      ? one.map((_, index) => [readMember(one, index), readMember(other, index)])
      : undefined
  }
  if (Array.isArray(one) || Array.isArray(other) || !isPlain(one) || !isPlain(other)) return undefined
  const names = Object.keys(one)
  if (names.length !== Object.keys(other).length) return undefined
  if (names.some((name) => !Object.hasOwn(other, name))) return undefined
  return names.map((name) => [readMember(one, name), readMember(other, name)])
}
