import { aborted } from '../../base/abort-signals.ts'
import { InvalidError } from '../../base/errors.ts'
import type { PeragoConfiguration } from '../../runtime/configuration/configuration.ts'
import { openRepositoryView, type RepositoryView } from '../../runtime/views/repository-view.ts'
import { BUILT_PAGE } from '../../server/http/page-routes.ts'
import { LOOKS_IN_FLIGHT } from '../../server/limits.ts'
import { servePage } from '../../server/serve-page.ts'
import { loadForCommand, type LoadedForCommand } from '../configured.ts'
import type { ConfiguredOptions } from '../options.ts'
import { newPageKey, pageAddress } from '../page-address.ts'
import type { Terminal } from '../terminal.ts'

export interface UiOptions extends ConfiguredOptions {
  readonly port: number
}

/** Serves the page until the terminal says to stop. Standard output gets one line, with the key that opens it. */
export async function openUi(options: UiOptions, terminal: Terminal): Promise<void> {
  // Before the start, so that a signal during it is not lost.
  const stop = terminal.stopSignal()
  const loaded = await loadForCommand(options, terminal)
  const { configuration, logger } = loaded
  requireSomething(configuration)
  const repositories = openRepositories(loaded)
  try {
    const key = newPageKey(terminal)
    const door = await servePage({
      page: {
        files: BUILT_PAGE,
        keys: { address: key, lakefs: configuration.lakefs.credentials },
        repositories,
      },
      ...{ logger, redactor: terminal.redactor, port: options.port },
    })
    terminal.answer(`ready ${pageAddress(door.url, key)}\n`)
    await aborted(stop)
    await door.close()
  } finally {
    await repositories?.close()
  }
}

function requireSomething({ lakefs, conductor }: PeragoConfiguration): void {
  if (lakefs.endpoint !== undefined || conductor.serverUrl !== undefined) return
  throw new InvalidError('cli/nothing-to-show', 'open the page: neither lakeFS nor Conductor is configured', {
    next: 'Set lakefs.* or conductor.* in perago.yaml or by variables; "perago config" shows them. "perago dev" and "perago lakefs" have a page of their own.',
  })
}

function openRepositories({ configuration, logger }: LoadedForCommand): RepositoryView | undefined {
  const { lakefs } = configuration
  if (lakefs.endpoint === undefined) return undefined
  return openRepositoryView({ lakefs: { ...lakefs, connections: LOOKS_IN_FLIGHT } }, { logger })
}
