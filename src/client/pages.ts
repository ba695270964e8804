/** Parameters of lists, and reading lists on over their pages. */

type Parameters = Readonly<Record<string, string | number | undefined>>

/** The parameters that are given, those of the first argument once for each of their values. */
export function queryOf(
  repeated: Readonly<Record<string, readonly string[]>>,
  single: object,
): readonly (readonly [string, string | number])[] {
  const several = Object.entries(repeated).flatMap(([name, values]) =>
    values.map((value) => [name, value] as const),
  )
  const once = Object.entries(single as Parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return [...several, ...once]
}

type Place = string | number

/** An empty page is not the end: only one without `next_after` is. */
export async function* readOn<
  Query extends { readonly after?: Place },
  Page extends { readonly next_after?: Place },
  Item,
>(
  query: Query | undefined,
  read: (query: Query) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): AsyncGenerator<Item, void, undefined> {
  for (let after = query?.after; ;) {
    const page = await read({ ...query, ...(after === undefined ? {} : { after }) } as Query)
    yield* itemsOf(page)
    after = page.next_after
    if (after === undefined) return
  }
}
