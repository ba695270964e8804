// A way to a server that can be cut at the worst moment: after the request went through, or before.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

export interface CuttingProxy {
  readonly port: number
  /**
   * What happens to the next bytes: `through` lets them pass, `lose-answer` lets requests pass and cuts the connection
   * instead of the answer, `lose-request` cuts it instead of the request, `silent` keeps every connection open, takes
   * what comes, and passes nothing on.
   */
  mode: 'through' | 'lose-answer' | 'lose-request' | 'silent'
  /** How many connections were cut. */
  readonly cuts: () => number
  readonly close: () => Promise<void>
}

export async function openCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let cuts = 0
  const server = createServer((client) => {
    const target = connect({ host: '127.0.0.1', port: targetPort })
    for (const socket of [client, target]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        target.destroy()
      })
    }
    const pass = (to: Socket, losing: CuttingProxy['mode']) => (chunk: Buffer) => {
      if (proxy.mode === 'silent') return
      if (proxy.mode !== losing) to.write(chunk)
      else {
        cuts += 1
        client.destroy()
      }
    }
    client.on('data', pass(target, 'lose-request'))
    target.on('data', pass(client, 'lose-answer'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: CuttingProxy = {
    port: (server.address() as AddressInfo).port,
    mode: 'through',
    cuts: () => cuts,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}
