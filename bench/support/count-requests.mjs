// A proxy that counts requests: `node count-requests.mjs TARGET`, with a channel to its parent. It slows requests, so
// nothing is timed through it.
import http from 'node:http'
import { pipeline } from 'node:stream'

const target = new URL(process.argv[2])
const agent = new http.Agent({ keepAlive: true, maxSockets: 256 })
let counts = {}

const server = http.createServer((request, response) => {
  const kind = `${request.method} ${kindOf(request.url)}`
  counts[kind] = (counts[kind] ?? 0) + 1
  const { hostname, port } = target
  const { method, url: path, headers } = request
  const onward = http.request({ hostname, port, method, path, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders)
    pipeline(answer, response, () => undefined)
  })
  onward.on('error', () => response.destroy())
  pipeline(request, onward, () => undefined)
})

/** The path without names and ids. */
function kindOf(url) {
  return (
    url
      .replace(/\?.*/, '')
      .replace(/^\/api\/v1/, '')
      .replace(/\/(repositories|branches|refs|tags|commits|merge)\/(?!objects)[^/]+/g, '/$1/*')
      .replace(/\/(poll\/batch|poll|workflow)\/[^/]+/g, '/$1/*')
      // A commit, or the id of a task.
      .replace(/[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f-]{27}/g, '*')
  )
}

process.on('message', () => {
  process.send({ counts })
  counts = {}
})
process.on('disconnect', () => process.exit())
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }))
