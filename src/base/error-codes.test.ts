// The page of error codes is written from the sources: nobody keeps a hundred rows true by hand.
import ts from 'typescript'
import { expect, test } from 'vitest'
import { isTest, listFiles, parseSource, visit } from '../../test/support/source-tree.ts'
import { ERROR_KINDS, EXIT_CODE, GRPC_STATUS, HTTP_STATUS, type ErrorKind } from './errors.ts'

interface Found {
  readonly code: string
  readonly kinds: ReadonlySet<string>
  readonly steps: ReadonlySet<string>
}

/** `room/what`; media types look alike and are told apart by their room. */
const CODE = /^([a-z]+(?:-[a-z]+)*)\/[a-z](?:[a-z0-9-]*[a-z0-9])?$/
const NOT_ROOMS = new Set(['application', 'text', 'image', 'audio', 'video', 'multipart', 'font'])
const KIND_OF_CLASS: Readonly<Record<string, ErrorKind>> = Object.fromEntries(
  ERROR_KINDS.map((kind) => [`${kind.charAt(0).toUpperCase()}${kind.slice(1)}Error`, kind]),
)

const sources = listFiles('src', (path) => path.endsWith('.ts') && !isTest(path))
  .filter((path) => !path.includes('/generated/') && !path.startsWith('src/testing/'))
  .map(parseSource)
const kindOfClass = new Map(Object.entries<string>(KIND_OF_CLASS))

function readCodes(): readonly Found[] {
  for (const source of sources) visit(source, noteErrorClass)
  const found = new Map<string, { code: string; kinds: Set<string>; steps: Set<string> }>()
  for (const source of sources) {
    visit(source, (node) => {
      const code = codeOf(node)
      if (code === undefined) return
      const entry = found.get(code) ?? { code, kinds: new Set(), steps: new Set() }
      found.set(code, entry)
      const place = placeOf(node)
      for (const kind of place.kinds) entry.kinds.add(kind)
      for (const step of place.steps) entry.steps.add(step)
    })
  }
  return [...found.values()].sort((left, right) => (left.code < right.code ? -1 : 1))
}

function noteErrorClass(node: ts.Node): void {
  if (!ts.isClassDeclaration(node) || node.name === undefined) return
  const base = node.heritageClauses?.[0]?.types[0]?.expression.getText()
  const kind = base === undefined ? undefined : kindOfClass.get(base)
  if (kind !== undefined && !kindOfClass.has(node.name.text)) kindOfClass.set(node.name.text, kind)
}

function codeOf(node: ts.Node): string | undefined {
  if (ts.isSourceFile(node) || ts.isImportDeclaration(node.parent) || ts.isLiteralTypeNode(node.parent)) {
    return undefined
  }
  const text = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) ? node.text : undefined
  const room = text === undefined ? undefined : CODE.exec(text)?.[1]
  return room === undefined || NOT_ROOMS.has(room) ? undefined : text
}

/** What stands around a code: the error that is made with it, or the row of a table it belongs to. */
function placeOf(code: ts.Node): { readonly kinds: readonly string[]; readonly steps: readonly string[] } {
  for (let node = code.parent; !ts.isSourceFile(node) && !ts.isFunctionLike(node); node = node.parent) {
    if (
      ts.isNewExpression(node) ||
      (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword)
    ) {
      const name = ts.isNewExpression(node) ? node.expression.getText() : enclosingClass(node)
      return {
        kinds: [kindOfClass.get(name ?? '')].filter((kind) => kind !== undefined),
        steps: stepsIn(node.arguments),
      }
    }
    const row = ts.isCallExpression(node) ? rowOf(node, code) : undefined
    if (row !== undefined) return row
    if (ts.isObjectLiteralExpression(node)) {
      return { kinds: stringsOf(property(node, 'kind')), steps: stringsOf(property(node, 'next')) }
    }
  }
  return { kinds: [], steps: [] }
}

/** A call with a kind and a code among its arguments makes a row of a table; a text behind the code is the next step. */
function rowOf(call: ts.CallExpression, code: ts.Node): ReturnType<typeof placeOf> | undefined {
  const kinds = call.arguments.flatMap(stringsOf).filter((text) => ERROR_KINDS.includes(text as ErrorKind))
  if (kinds.length === 0) return undefined
  const at = call.arguments.findIndex((argument) => argument === code)
  return { kinds, steps: stringsOf(call.arguments[at + 1]) }
}

function enclosingClass(node: ts.Node): string | undefined {
  for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent)
    if (ts.isClassDeclaration(at)) return at.name?.text
  return undefined
}

function stepsIn(args: readonly ts.Node[] = []): readonly string[] {
  return args.flatMap((argument) =>
    ts.isObjectLiteralExpression(argument) ? stringsOf(property(argument, 'next')) : [],
  )
}

function property(node: ts.ObjectLiteralExpression, name: string): ts.Node | undefined {
  return node.properties
    .filter((candidate) => ts.isPropertyAssignment(candidate))
    .find((candidate) => candidate.name.getText() === name)?.initializer
}

/** The texts an expression can be, a hole in a template shown as "…". */
function stringsOf(node: ts.Node | undefined): readonly string[] {
  if (node === undefined) return []
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isTemplateExpression(node)) {
    return [node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('')]
  }
  if (ts.isIdentifier(node)) return stringsOf(constantOf(node))
  if (ts.isConditionalExpression(node)) return [...stringsOf(node.whenTrue), ...stringsOf(node.whenFalse)]
  return []
}

/** What a constant of the same file stands for, when it is a string. */
function constantOf(identifier: ts.Identifier): ts.Expression | undefined {
  const declared = identifier
    .getSourceFile()
    .statements.filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations)
    .find(({ name }) => ts.isIdentifier(name) && name.text === identifier.text)?.initializer
  return declared !== undefined && ts.isStringLiteralLike(declared) ? declared : undefined
}

function renderPage(codes: readonly Found[]): string {
  const rooms = [...new Set(codes.map(({ code }) => code.slice(0, code.indexOf('/'))))]
  const kinds = ERROR_KINDS.map(
    (kind) =>
      `| \`${kind}\` | ${MEANING[kind]} | ${EXIT_CODE[kind]} | ${HTTP_STATUS[kind]} | ${GRPC_STATUS[kind]} |\n`,
  )
  const sections = rooms.map((room) => {
    const own = codes.filter(({ code }) => code.startsWith(`${room}/`))
    const rows = own.filter(({ steps }) => isTelling(steps))
    const bare = own
      .filter(({ steps }) => !isTelling(steps))
      .map(({ code, kinds }) => `\`${code}\`${kindsOf(kinds)}`)
    return [
      `### ${room}`,
      ...(rows.length === 0 ? [] : [groupAlike(rows).map(renderRow).join('\n')]),
      ...(bare.length === 0 ? [] : [`${rows.length === 0 ? '' : 'Also: '}${bare.join(', ')}.`]),
    ].join('\n\n')
  })
  return `# Errors

Every error has a **kind**, which decides what to do, and a **code**, \`room/what\`, the same in every release. The message is one
line: what was being done, to what, and what came back; then the next step. The command line writes errors to standard error, with
\`--json\` as \`{"error": {"kind", "code", "message", "next", "details", "causes"}}\`.

## Kinds

| kind | meaning | exit code | HTTP | gRPC |
|---|---|---|---|---|
${kinds.join('')}
perago retries only \`unavailable\`. The field \`read\` of an \`uncertain\` error names what to read.

## Codes

"…" is a value. A code without a kind in brackets is \`invalid\`. For codes after "Also", the kind and the error itself say what to do.
A test writes this part; after a change run \`npx vitest run src/base/error-codes.test.ts -u\`.

${sections.join('\n\n')}
`
}

const MEANING: Readonly<Record<ErrorKind, string>> = {
  invalid: 'the definition, input or configuration is wrong',
  missing: 'something that was named does not exist',
  refused: 'a fence or the current state does not allow it',
  unavailable: 'not done; trying again is safe',
  uncertain: 'sent, but the response was lost: read the state first',
  defect: 'internal error',
}

/** Codes of one kind and one next step share a row, at the place of the first. */
function groupAlike(rows: readonly Found[]): readonly (readonly Found[])[] {
  const groups = new Map<string, Found[]>()
  for (const row of rows) {
    const key = JSON.stringify([[...row.kinds].sort(), [...row.steps].sort()])
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  return [...groups.values()]
}

function renderRow(alike: readonly Found[]): string {
  const [{ kinds, steps }] = alike as readonly [Found, ...Found[]]
  const codes = alike.map(({ code }) => `\`${code}\``).join(', ')
  return `- ${codes}${kindsOf(kinds)}: ${[...steps].sort().join(' Or: ')}`
}

/** What the kind says already, "Correct it." and a choice of three steps or more help nobody away from their error. */
function isTelling(steps: ReadonlySet<string>): boolean {
  const isBare = [...steps].every((step) =>
    /^(?:(Correct|Shorten|Split) (\w+|the \w+|what is listed|what the server names)|Try again( later)?(; nothing was done)?|Before trying again, read …|Read the present state and decide again)\.$/.test(
      step,
    ),
  )
  return !isBare && steps.size < 3
}

/** Most codes are of the kind `invalid`, so the page names the others only. */
function kindsOf(kinds: ReadonlySet<string>): string {
  if (kinds.size === 0) return ' (kind in the error)'
  const shown = [...kinds].sort().join(', ')
  return shown === 'invalid' ? '' : ` (${shown})`
}

test('BA-61 the reference page shows every code of the sources', async () => {
  await expect(renderPage(readCodes())).toMatchFileSnapshot('../../docs/reference/errors.md')
})

test('BA-61 codes are found in errors, subclasses and tables', () => {
  const codes = new Map(readCodes().map((found) => [found.code, found]))
  expect([...(codes.get('base/too-many-waiting')?.kinds ?? [])]).toEqual(['unavailable'])
  expect([...(codes.get('base/too-many-waiting')?.steps ?? [])]).toEqual(['Start fewer operations at once.'])
  expect([...(codes.get('runtime/no-lakefs')?.kinds ?? [])]).toEqual(['invalid'])
  // A row of the client's table of answers.
  expect([...(codes.get('lakefs/server-too-old')?.kinds ?? [])]).toEqual(['invalid'])
})
