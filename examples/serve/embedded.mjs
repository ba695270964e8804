// The same server inside a program.
import { startServer } from 'perago'

const server = await startServer({ store: 'memory:', port: 0 })
const { token } = await server.tokens.create({ name: 'me', role: 'operator' })
const response = await fetch(`${server.url}/webhooks`, { headers: { authorization: `Bearer ${token}` } })
console.log(await response.json())
await server.close()
