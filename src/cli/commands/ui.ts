import { aborted } from '../../base/abort-signals.ts'
import { defined } from '../../base/defined.ts'
import { InvalidError } from '../../base/errors.ts'
import type { PeragoConfiguration } from '../../runtime/configuration/configuration.ts'
import { openWorkersView } from '../../runtime/views/workers-view.ts'
import { BUILT_PAGE } from '../../server/http/page-routes.ts'
import { LOOKS_IN_FLIGHT } from '../../server/limits.ts'
import { openPageViews } from '../../server/open-page.ts'
import { servePage } from '../../server/serve-page.ts'
import { loadForCommand } from '../configured.ts'
import { workRootOf, type ConfiguredOptions } from '../options.ts'
import { newPageKey, pageAddress } from '../page-address.ts'
import type { Terminal } from '../terminal.ts'

export interface UiOptions extends ConfiguredOptions {
  readonly port: number
  readonly root?: string
}

/** Serves the page until the terminal says to stop. Standard output gets one line, with the key that opens it. */
export async function openUi(options: UiOptions, terminal: Terminal): Promise<void> {
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const { configuration, logger } = await loadForCommand(options, terminal)
  requireSomething(configuration)
  const { redactor } = terminal
  const { pageOf, closePage } = await openPageViews({
    configuration: shownOf(configuration),
    // There is no store here that could be full.
    examineHost: () => Promise.resolve([]),
    ...{ logger, redactor },
  })
  try {
    const key = newPageKey(terminal)
    const keys = { address: key, lakefs: configuration.lakefs.credentials }
    const workers = openWorkersView({ root: workRootOf(options, terminal) })
    const page = { files: BUILT_PAGE, keys, workers, ...pageOf(undefined) }
    const door = await servePage({ page, logger, redactor, port: options.port })
    terminal.answer(`ready ${pageAddress(door.url, key)}\n`)
    await aborted(stop)
    await door.close()
  } finally {
    await closePage()
  }
}

function requireSomething({ lakefs, conductor }: PeragoConfiguration): void {
  if (lakefs.endpoint !== undefined || conductor.serverUrl !== undefined) return
  throw new InvalidError('cli/nothing-to-show', 'open the page: neither lakeFS nor Conductor is configured', {
    next: 'Set lakefs.* or conductor.* in perago.yaml or by variables; "perago config" shows them. "perago dev" and "perago lakefs" have a page of their own.',
  })
}

/** Only what is configured. */
function shownOf({ lakefs, conductor, ledger }: PeragoConfiguration): Partial<PeragoConfiguration> {
  return {
    ...(lakefs.endpoint !== undefined && { lakefs: { ...lakefs, connections: LOOKS_IN_FLIGHT } }),
    ...(conductor.serverUrl !== undefined && { conductor }),
    ...defined({ ledger }),
  }
}
