// A worker that takes tasks and publishes, but whose results are lost on their way to Conductor.
//   node lost-worker.mjs TASKS PORT
import { createServer, request } from 'node:http'
import { startWorkers } from 'perago'

const [tasks, port] = process.argv.slice(2)
const conductor = process.env.CONDUCTOR_SERVER_URL

// Everything passes between worker and Conductor, but what is posted to /api/tasks: that is a result.
createServer((asked, answer) => {
  const { method, headers, url } = asked
  if (method === 'POST' && url === '/api/tasks') return asked.socket.destroy()
  const passed = request(new URL(url, conductor), { method, headers }, (answered) => {
    answer.writeHead(answered.statusCode, answered.headers)
    answered.pipe(answer)
  })
  passed.on('error', () => answer.destroy())
  answer.on('close', () => passed.destroy())
  asked.pipe(passed)
}).listen(Number(port), '127.0.0.1')

const serverUrl = `http://127.0.0.1:${port}/api`
const workers = await startWorkers({ tasks, root: 'lost-worker', settings: { conductor: { serverUrl } } })
await workers.ready
console.log(`ready ${serverUrl}`)
