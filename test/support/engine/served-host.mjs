// A process that hosts an engine over one file and serves it as Conductor, until it is killed.
import { writeSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { silentLogger } from '../../../dist/base/logger.js'
import { plainRedactor } from '../../../dist/base/redaction.js'
import { openEngine } from '../../../dist/engine/host/open-engine.js'
import { openDefinitionShelf } from '../../../dist/server/conductor/definition-shelf.js'
import { buildConductorApp } from '../../../dist/server/conductor/conductor-app.js'
import { listenHttp } from '../../../dist/server/http/listen-http.js'
import { openSqliteStore } from '../../../dist/stores/sqlite/sqlite-store.js'

// The test has ended, however it did.
process.stdin.resume().once('end', () => process.exit(1))

const { file, port, graphs } = JSON.parse(process.argv[2])
const store = await openSqliteStore({ file })
const { queue, control, isRunning } = await openEngine({ store })
while (!isRunning()) await wait(2)
for (const graph of graphs) await control.registerGraph(graph)
const definitions = openDefinitionShelf(store, control)
const app = buildConductorApp({ queue, control, definitions, logger: silentLogger })
const fetch = (request) => app.fetch(request)
const { url } = await listenHttp({ fetch, address: '127.0.0.1', port, redactor: plainRedactor })
writeSync(1, `${JSON.stringify({ url })}\n`)
