// One question and one answer over a bare socket: enough to speak to a server without its client library.
import { connect } from 'node:net'

export interface Exchange {
  readonly host: string
  readonly port: number
  readonly send: Buffer | string
  /** Tells when enough has arrived. */
  readonly isWhole: (received: Buffer) => boolean
  readonly signal: AbortSignal
}

const EXCHANGE_MS = 5_000

export function exchange({ host, port, send, isWhole, signal }: Exchange): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const socket = connect({ host, port, signal })
    const fail = (error: Error): void => {
      socket.destroy()
      reject(error)
    }
    socket.setTimeout(EXCHANGE_MS, () => fail(new Error(`${host}:${String(port)} did not answer in time`)))
    socket.on('connect', () => socket.write(send))
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
      if (!isWhole(received)) return
      socket.destroy()
      resolve(received)
    })
    socket.on('error', fail)
    socket.on('close', () => reject(new Error(`${host}:${String(port)} closed without a whole answer`)))
  })
}
