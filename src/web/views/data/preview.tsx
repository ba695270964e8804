/** What is in an object, or what became of it: chosen by its name and its first bytes. */

import { Fragment, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useLoaded } from '../../load.ts'
import { Loading, Problem } from '../../parts/problem.tsx'
import { showSize } from '../../parts/time.tsx'
import { replaceQuery } from '../../route.ts'
import { toPlace } from './addresses.ts'
import { readCsv, separatorOf } from './csv.ts'
import { imageTypeOf, promisedFormat, textOf } from './format.ts'
import { diffJson, NODES_MAX, parseJson } from './json-diff.ts'
import { JsonView } from './json-view.tsx'
import type { ParquetViewProps } from './parquet-view.tsx'
import { readEntry, readRange, type Entry, type ObjectBytes } from './reading.ts'
import { TableView } from './table-view.tsx'
import { TextView } from './text-view.tsx'

/** More is not read for looking at it. */
const TEXT_MAX_BYTES = 4 * 1_048_576
const IMAGE_MAX_BYTES = 16 * 1_048_576
const SNIFF_BYTES = 65_536

export interface PreviewProps {
  readonly repository: string
  readonly path: string
  /** The commits in which it is looked at; one alone where there is nothing to compare. */
  readonly before?: string | undefined
  readonly after?: string | undefined
  /** `text`: the bytes as they stand, for what could be shown as a table or a tree. */
  readonly as?: string | undefined
  /** It was chosen in a list beside it. */
  readonly isChosen?: boolean
}

export function Preview(props: PreviewProps) {
  const { repository, path, before, after, isChosen = false } = props
  const shown = after ?? before ?? ''
  const box = useRef<HTMLElement>(null)
  useEffect(() => {
    // Where it stands below the list.
    if (isChosen && matchMedia('(max-width: 999px)').matches) box.current?.scrollIntoView()
  }, [])
  return (
    <section class="preview" aria-label={path} ref={box}>
      {isChosen && (
        <h3>
          <a href={toPlace(repository, shown, path)}>{path}</a>{' '}
          <span class="faint">
            {before === undefined ? 'new' : after === undefined ? 'as it was' : 'before and after'}
          </span>
        </h3>
      )}
      {promisedFormat(path) === 'parquet' ? <Parquet {...props} /> : <Bytes {...props} />}
    </section>
  )
}

interface Side {
  readonly read: ObjectBytes
  readonly isCut: boolean
  readonly text: string | undefined
}

function Bytes({ repository, path, before, after, as }: PreviewProps) {
  const isImage = imageTypeOf(path) !== undefined
  const { data, error, reload } = useLoaded(
    async (signal) => {
      const readSide = async (at: string | undefined): Promise<Side | undefined> =>
        at === undefined ? undefined : readShown({ repository, at, path }, isImage, signal)
      const [old, now] = await Promise.all([readSide(before), readSide(after)])
      return { old, now }
    },
    [repository, path, before, after],
  )
  if (data === undefined) return error === undefined ? <Loading /> : <Problem error={error} retry={reload} />
  const { old, now } = data
  const sides = [old, now].filter((side) => side !== undefined)
  if (isImage && sides.every(({ isCut }) => !isCut))
    return <Images {...{ path, old: old?.read, now: now?.read }} />
  if (isImage || sides.some(({ text }) => text === undefined))
    return <Unreadable {...{ repository, path, before, after }} />
  return (
    <Text {...{ path, as, before: old?.text, after: now?.text, isCut: sides.some(({ isCut }) => isCut) }} />
  )
}

async function readShown(
  place: { readonly repository: string; readonly at: string; readonly path: string },
  isImage: boolean,
  signal: AbortSignal,
): Promise<Side> {
  const most = isImage ? IMAGE_MAX_BYTES : TEXT_MAX_BYTES
  const first = await readRange(place, { start: 0, length: SNIFF_BYTES }, signal)
  const isWhole = first.bytes.length >= first.sizeBytes
  // Nobody wants the first 4 MiB of an archive, or a part of an image.
  const isEnough = isWhole || (isImage ? first.sizeBytes > most : textOf(first.bytes, true) === undefined)
  const read = isEnough ? first : await readRange(place, { start: 0, length: most }, signal)
  const isCut = read.bytes.length < read.sizeBytes
  return { read, isCut, text: isImage ? undefined : textOf(read.bytes, isCut) }
}

interface TextProps {
  readonly path: string
  readonly as: string | undefined
  readonly before: string | undefined
  readonly after: string | undefined
  readonly isCut: boolean
}

function Text({ path, as, before, after, isCut }: TextProps) {
  const format = promisedFormat(path)
  const drawn = useMemo(
    () => (as === 'text' ? undefined : draw({ format, path, before, after, isCut })),
    [as, format, path, before, after, isCut],
  )
  const hasChoice = format === 'csv' || format === 'json'
  return (
    <>
      {hasChoice && (
        <p class="tabs">
          <button type="button" aria-pressed={as !== 'text'} onClick={() => replaceQuery({ as: undefined })}>
            {format === 'csv' ? 'Table' : 'Tree'}
          </button>
          <button type="button" aria-pressed={as === 'text'} onClick={() => replaceQuery({ as: 'text' })}>
            Text
          </button>
        </p>
      )}
      {isCut && (
        <p class="note">
          It is longer than {showSize(TEXT_MAX_BYTES)}: only its beginning is shown. Download it to see all.
        </p>
      )}
      {drawn ?? (
        <>
          {hasChoice && as !== 'text' && <p class="note">{sayNotDrawn(format, isCut)}</p>}
          <TextView {...{ before, after }} />
        </>
      )}
    </>
  )
}

function sayNotDrawn(format: string, isCut: boolean): string {
  if (format === 'csv' || isCut) return 'This is its text.'
  return `It is not JSON, or has more than ${NODES_MAX.toLocaleString()} places: this is its text.`
}

/** `undefined`: it is only text. */
function draw({
  format,
  path,
  before,
  after,
  isCut,
}: Omit<TextProps, 'as'> & { readonly format: ReturnType<typeof promisedFormat> }): ComponentChildren {
  if (format === 'csv') {
    const separator = separatorOf(after ?? before ?? '', path)
    const read = (text: string | undefined) => (text === undefined ? undefined : readCsv(text, separator))
    return <TableView {...{ before: read(before), after: read(after), isCut }} />
  }
  if (format !== 'json' || isCut) return undefined
  const [old, now] = [before, after].map((text) => (text === undefined ? undefined : parseJson(text)))
  if ((before !== undefined && old === undefined) || (after !== undefined && now === undefined))
    return undefined
  const [one, other] = [old ?? now, now ?? old]
  const tree = diffJson(one?.value, other?.value)
  const isCompared = before !== undefined && after !== undefined
  return tree && <JsonView {...{ tree, isCompared, isSameText: before === after }} />
}

function Images({
  path,
  old,
  now,
}: {
  readonly path: string
  readonly old: ObjectBytes | undefined
  readonly now: ObjectBytes | undefined
}) {
  return (
    <div class="images">
      {old !== undefined && <Picture {...{ path, of: old, caption: 'Before' }} />}
      {now !== undefined && <Picture {...{ path, of: now, caption: old === undefined ? '' : 'After' }} />}
    </div>
  )
}

function Picture({
  path,
  of,
  caption,
}: {
  readonly path: string
  readonly of: ObjectBytes
  readonly caption: string
}) {
  const [address, setAddress] = useState<string | undefined>(undefined)
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    // Only an <img> is given it: as a document an SVG could run scripts.
    const made = URL.createObjectURL(new Blob([of.bytes], { type: imageTypeOf(path) ?? '' }))
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [of, path])
  const name = `${caption} ${showSize(of.sizeBytes)}`.trim()
  return (
    <figure>
      {isBroken ? (
        <p class="note">The browser cannot draw it.</p>
      ) : (
        address !== undefined && (
          <img src={address} alt={`${path} ${caption}`} onError={() => setBroken(true)} />
        )
      )}
      <figcaption>{name}</figcaption>
    </figure>
  )
}

/** Sizes and checksums tell whether it is still the same. */
function Unreadable({ repository, path, before, after }: PreviewProps) {
  const { data, error, reload } = useLoaded(
    async (signal) => {
      const read = async (at: string | undefined): Promise<Entry | undefined> =>
        at === undefined ? undefined : readEntry({ repository, at, path }, signal)
      const [old, now] = await Promise.all([read(before), read(after)])
      return [
        { name: before === undefined || after === undefined ? 'Object' : 'Before', entry: old },
        { name: before === undefined || after === undefined ? 'Object' : 'After', entry: now },
      ].filter(({ entry }) => entry !== undefined)
    },
    [repository, path, before, after],
  )
  return (
    <>
      <p class="note">These bytes are neither text nor an image that is drawn here.</p>
      <Problem error={error} retry={reload} />
      <dl class="facts">
        {data?.map(({ name, entry }) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              {showSize(entry?.size ?? 0)}, checksum <code>{entry?.checksum}</code>
            </dd>
          </Fragment>
        ))}
      </dl>
    </>
  )
}

/** Its reader is as large as all else here, so it comes only when it is needed. */
function Parquet(props: ParquetViewProps) {
  const [loaded, setLoaded] = useState<{ view?: ComponentType<ParquetViewProps>; error?: unknown }>({})
  useEffect(() => {
    import('./parquet-view.tsx').then(
      ({ ParquetView }) => setLoaded({ view: ParquetView }),
      (error: unknown) => setLoaded({ error }),
    )
  }, [])
  if (loaded.view === undefined)
    return loaded.error === undefined ? <Loading /> : <Problem error={loaded.error} />
  return <loaded.view {...props} />
}
