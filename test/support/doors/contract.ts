// Checks responses against the contract: every response of a test must match the schemas of openapi/perago.yaml.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { readText } from '../source-tree.ts'

interface Operation {
  readonly operationId: string
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
  readonly responses: Readonly<Record<string, ResponseRule | { readonly $ref: string }>>
}

interface ResponseRule {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>
  readonly content?: Readonly<Record<string, { readonly schema: unknown }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly responses: Readonly<Record<string, ResponseRule>> }
}

export const document = parse(readText('openapi/perago.yaml')) as Document

const ajv = new Ajv2020({ strict: false, allErrors: true })
addFormats.default(ajv)
ajv.addSchema({ ...document, $id: 'contract' })

/** Statuses of any route: there is no such route, or no such method. */
const OUTSIDE_OPERATIONS: readonly number[] = [401, 404, 405, 429]

export interface Judged {
  readonly operationId: string | undefined
  readonly status: number
}

/** Throws where an answer is not what the contract says. */
export async function judgeAnswer(method: string, path: string, response: Response): Promise<Judged> {
  const operation = findOperation(method, pathOf(path))
  const { status } = response
  const where = `${method} ${path} answered ${String(status)}`
  const rule = operation === undefined ? undefined : resolve(operation.responses[String(status)])
  if (rule === undefined) {
    if (operation !== undefined || !OUTSIDE_OPERATIONS.includes(status)) {
      throw new Error(`${where}: the contract does not know that`)
    }
    await judgeBody(where, '#/components/schemas/Failure', response)
    return { operationId: undefined, status }
  }
  for (const [name, header] of Object.entries(rule.headers ?? {})) {
    if (header.required === true && !response.headers.has(name)) throw new Error(`${where} without ${name}`)
  }
  if (rule.content === undefined) {
    if ((await response.clone().text()) !== '') throw new Error(`${where} with a body`)
    return { operationId: operation?.operationId, status }
  }
  const type = response.headers.get('content-type')?.split(';')[0] ?? 'none'
  const content = rule.content[type]
  if (content === undefined) throw new Error(`${where} with content type ${type}`)
  if (type === 'application/json')
    await judgeBody(where, pointerTo(method, pathOf(path), status, type), response)
  return { operationId: operation?.operationId, status }
}

async function judgeBody(where: string, pointer: string, response: Response): Promise<void> {
  const body: unknown = await response.clone().json()
  const check = ajv.getSchema(`contract${pointer}`) ?? ajv.compile({ $ref: `contract${pointer}` })
  if (check(body) === true) return
  throw new Error(`${where}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(body).slice(0, 500)}`)
}

function findOperation(method: string, path: string): Operation | undefined {
  const template = templateOf(path)
  return template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()]
}

function templateOf(path: string): string | undefined {
  const [plain = ''] = path.split('?')
  return Object.keys(document.paths).find((template) =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(plain),
  )
}

function pointerTo(method: string, path: string, status: number, type: string): string {
  const escape = (text: string): string =>
    encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
  const template = templateOf(path) ?? ''
  const found = document.paths[template]?.[method.toLowerCase()]?.responses[String(status)]
  const base =
    found !== undefined && '$ref' in found
      ? found.$ref
      : `#/paths/${escape(template)}/${method.toLowerCase()}/responses/${String(status)}`
  return `${base}/content/${escape(type)}/schema`
}

function resolve(rule: ResponseRule | { readonly $ref: string } | undefined): ResponseRule | undefined {
  if (rule === undefined || !('$ref' in rule)) return rule
  return document.components.responses[rule.$ref.split('/').at(-1) ?? '']
}

/** As the server sees it: without a host, and with dots and slashes resolved. */
function pathOf(path: string): string {
  return new URL(path, 'http://127.0.0.1').pathname
}
