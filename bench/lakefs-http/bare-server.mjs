// The limit: a node:http handler that does only what every durable object server must do. PUT writes the
// body to a new file, syncs it, renames it into place and syncs the directory; GET streams it back.
import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, rename, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const directory = process.argv[2]

const server = createServer((request, response) => {
  const name = join(directory, encodeURIComponent(request.url.slice(1)))
  const answer = request.method === 'PUT' ? store(name, request, response) : fetchBack(name, response)
  answer.catch((error) => response.destroy(error))
})

async function store(name, request, response) {
  const temporary = join(directory, `.${randomBytes(8).toString('hex')}`)
  const file = await open(temporary, 'wx')
  try {
    await file.writeFile(request)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, name)
  const parent = await open(directory, 'r')
  await parent.sync()
  await parent.close()
  response.writeHead(201).end()
}

async function fetchBack(name, response) {
  const { size } = await stat(name)
  response.writeHead(200, { 'content-length': size })
  await pipeline(createReadStream(name), response)
}

server.listen(0, '127.0.0.1', () => console.log(`ready http://127.0.0.1:${server.address().port}`))
process.on('SIGTERM', () => server.close(() => process.exit(0)))
