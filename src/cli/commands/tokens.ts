import { defined } from '../../base/defined.ts'
import type { Role } from '../../server/access/callers.ts'
import { openTokens, type TokenRecord, type Tokens } from '../../server/access/tokens.ts'
import { withHost } from '../core-stores.ts'
import type { CoreOptions } from '../store-options.ts'
import { answer, renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

export interface TokenOptions extends CoreOptions {
  readonly name: string
  readonly role: Role
  readonly tenant?: string
  /** In milliseconds. */
  readonly expiresIn?: number
}

/** Answers with the token alone, so that a script can take it. */
export async function createToken(options: TokenOptions, terminal: Terminal): Promise<void> {
  const { name, role, tenant, expiresIn } = options
  const { token, record } = await withTokens(options, terminal, (tokens) =>
    tokens.create({ name, role, ...defined({ tenant, lifetimeMs: expiresIn }) }),
  )
  if (options.json !== true) terminal.say(`token ${record.id}, shown this once:\n`)
  answer(terminal, options, { token, ...shown(record) }, () => `${token}\n`)
}

export async function listTokens(options: CoreOptions, terminal: Terminal): Promise<void> {
  const records = await withTokens(options, terminal, (tokens) => tokens.list())
  answer(terminal, options, records.map(shown), () => {
    const rows = records.map(({ id, name, role, tenant, expiresAt }) => [
      id,
      role,
      tenant ?? '-',
      expiresAt ?? 'until revoked',
      name,
    ])
    return renderTable([['ID', 'ROLE', 'TENANT', 'GOOD UNTIL', 'NAME'], ...rows])
  })
}

export async function revokeToken(id: string, options: CoreOptions, terminal: Terminal): Promise<void> {
  await withTokens(options, terminal, (tokens) => tokens.revoke(id))
  terminal.answer(`revoked ${id}\n`)
}

function withTokens<T>(
  options: CoreOptions,
  terminal: Terminal,
  work: (tokens: Tokens) => Promise<T>,
): Promise<T> {
  return withHost(options, terminal, ({ store }) => work(openTokens(store)))
}

/** Without the digest. */
function shown({ id, name, tenant, role, createdAt, expiresAt }: TokenRecord) {
  return { id, name, role, tenant, createdAt, expiresAt }
}
