// A name server on loopback, which answers by a table: addresses of either family. It is silent about other names where told to.
import { createSocket } from 'node:dgram'
import { isIP } from 'node:net'

export interface TestNameServer {
  /** As resolvers take it. */
  readonly address: string
  /** Names that were asked for, with the family. */
  readonly asked: string[]
  close(): Promise<void>
}

export async function startNameServer(
  names: Readonly<Record<string, readonly string[]>>,
  { isSilent = () => false }: { readonly isSilent?: (question: string) => boolean } = {},
): Promise<TestNameServer> {
  const socket = createSocket('udp4')
  const asked: string[] = []
  socket.on('message', (query, from) => {
    const { name, end } = readName(query)
    const family = query.readUInt16BE(end) === 28 ? 6 : 4
    asked.push(`${name} ${family}`)
    if (isSilent(`${name} ${family}`)) return
    const found = names[name]?.filter((address) => isIP(address) === family)
    const head = Buffer.from(query.subarray(0, 12))
    // An answer; a name that is not in the table does not exist.
    head.writeUInt16BE(names[name] === undefined ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(found?.length ?? 0, 6)
    head.fill(0, 8)
    const answers = (found ?? []).map((address) => answerOf(address, family))
    socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...answers]), from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked,
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  }
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

/** About the name of the question, for a minute. */
function answerOf(address: string, family: number): Buffer {
  const data = family === 4 ? Buffer.from(address.split('.').map(Number)) : groupsOf(address)
  const head = Buffer.from([0xc0, 12, 0, family === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, data.length])
  return Buffer.concat([head, data])
}

function groupsOf(address: string): Buffer {
  const [before, after] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const zeros = Array<string>(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill('0')
  const groups = [...(before ?? []), ...zeros, ...(after ?? [])]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
