/** What a page is shown of the systems that a server is given: lakeFS, and a Conductor or the engine of the server. */

import { defined } from '../base/defined.ts'
import type { Logger } from '../base/logger.ts'
import type { Redactor } from '../base/redaction.ts'
import type { PeragoConfiguration } from '../runtime/configuration/configuration.ts'
import type { PageParts } from './http/app.ts'
import type { EnginePage } from './http/serve.ts'
import { LOOKS_IN_FLIGHT } from './limits.ts'

export interface PagedLakefs {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** As `lakefs.fence` of the configuration; recoveries heed it. */
  readonly fence?: 'preferred' | 'required' | 'off' | undefined
  /** As `ledger.keys` of the configuration; recoveries heed it. */
  readonly ledgerKeys?: string | undefined
}

export interface PagedConductor {
  readonly endpoint: string
  readonly key?: { readonly keyId: string; readonly keySecret: string } | undefined
}

interface PageViewsParts {
  readonly configuration: Partial<Pick<PeragoConfiguration, 'lakefs' | 'conductor' | 'ledger'>>
  readonly examineHost: () => Promise<readonly string[]>
  readonly logger: Logger
  readonly redactor: Redactor
}

export interface OpenPageParts extends Omit<PageViewsParts, 'configuration'> {
  readonly lakefs: PagedLakefs | undefined
  readonly conductor: PagedConductor | undefined
}

export interface OpenedPage {
  readonly pageOf: (engine: EnginePage | undefined) => PageParts
  readonly closePage: () => Promise<void>
}

/** Sends nothing yet. */
export function openPage({ lakefs, conductor, ...parts }: OpenPageParts): Promise<OpenedPage> {
  return openPageViews({ configuration: settingsOf({ lakefs, conductor }), ...parts })
}

/** The same of what is configured. */
export async function openPageViews(parts: PageViewsParts): Promise<OpenedPage> {
  // Loaded here, because most programs that import the package start no server.
  const [{ openRepositoryView }, { openConductorView }, { openExaminationView }, { openRecoveryView }] =
    await Promise.all([
      import('../runtime/views/repository-view.ts'),
      import('../runtime/views/open-workflow-views.ts'),
      import('../runtime/views/examination-view.ts'),
      import('../runtime/views/recovery-view.ts'),
    ])
  const { logger, redactor, examineHost } = parts
  const closing: { close(): Promise<void> }[] = []
  const kept = <View extends { close(): Promise<void> }>(view: View): View => {
    closing.push(view)
    return view
  }
  const pageOf = (engine: EnginePage | undefined): PageParts => {
    const { lakefs, conductor, ledger } = parts.configuration
    // Beside an engine a configured Conductor is often the engine itself.
    const given = engine === undefined ? conductor : undefined
    const repositories = lakefs && kept(openRepositoryView({ lakefs }, { logger }))
    const view =
      given && kept(openConductorView({ conductor: given }, { logger, connections: LOOKS_IN_FLIGHT }))
    const workflows =
      engine?.workflows ?? (view && { of: (tenant) => (tenant === undefined ? view : undefined) })
    const configuration = defined({ lakefs, conductor: given })
    const recoveries =
      lakefs &&
      kept(
        openRecoveryView({
          configuration: { lakefs, conductor: given ?? NONE, ...defined({ ledger }) },
          ...{ conductor: engine?.answer, logger },
        }),
      )
    const own = workflows?.of(undefined)
    const examination = openExaminationView({
      ...{ examineHost, configuration, logger, redactor },
      readPollers: own && ((signal) => own.pollers(signal)),
    })
    return { repositories, workflows, examination, recoveries }
  }
  return {
    pageOf,
    closePage: async () => {
      await Promise.all(closing.map((view) => view.close()))
    },
  }
}

const NONE = { serverUrl: undefined, auth: undefined }

function settingsOf({
  lakefs,
  conductor,
}: Pick<OpenPageParts, 'lakefs' | 'conductor'>): PageViewsParts['configuration'] {
  const { key } = conductor ?? {}
  return defined({
    lakefs: lakefs && lakefsSettings(lakefs),
    conductor: conductor && {
      serverUrl: conductor.endpoint,
      auth: key && { key: key.keyId, secret: key.keySecret },
    },
    ledger:
      lakefs?.ledgerKeys === undefined ? undefined : { onRetry: 'replace' as const, keys: lakefs.ledgerKeys },
  })
}

function lakefsSettings({ endpoint, accessKeyId, secretAccessKey, fence }: PagedLakefs) {
  const credentials = { accessKeyId, secretAccessKey }
  return { endpoint, credentials, connections: LOOKS_IN_FLIGHT, ...defined({ fence }) }
}
