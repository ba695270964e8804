/** The lakeFS of each tenant of a server, as `engine.tenantLakefs` names them. Pure. */

export interface TenantLakefs {
  readonly endpoint: string
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string }
}

export interface ReadTenantLakefs {
  readonly lakefs: ReadonlyMap<string, TenantLakefs>
  /** They name lines, and repeat nothing of them: there are secrets in it. */
  readonly problems: readonly string[]
}

/** One line for each: the tenant, the address, the access key id, the secret access key. */
export function readTenantLakefs(text: string): ReadTenantLakefs {
  const lakefs = new Map<string, TenantLakefs>()
  const problems: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    const words = line.trim().split(/\s+/)
    const [tenant = '', address = '', accessKeyId = '', secretAccessKey = ''] = words
    if (tenant === '' || tenant.startsWith('#')) continue
    const endpoint = readAddress(address)
    const problem =
      words.length !== 4
        ? `expected TENANT ADDRESS ACCESS_KEY_ID SECRET_ACCESS_KEY, not ${words.length} words`
        : endpoint === undefined
          ? 'its address is not an http address without credentials'
          : lakefs.has(tenant)
            ? 'its tenant has a line before it'
            : undefined
    if (problem !== undefined) problems.push(`engine.tenantLakefs: line ${index + 1}: ${problem}`)
    else lakefs.set(tenant, { endpoint: endpoint ?? '', credentials: { accessKeyId, secretAccessKey } })
  }
  return { lakefs, problems }
}

function readAddress(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url?.username === '' && url.password === '' && url.search === '' && url.hash === ''
  return url !== undefined && isPlain && /^https?:$/.test(url.protocol)
    ? url.href.replace(/\/+$/, '')
    : undefined
}
