import { resolve } from 'node:path'
import { MissingError, RefusedError } from '../../base/errors.ts'
import { readCredentialsAccess, readStoredKeyPair, type KeyPair } from '../../embedded/lakefs/credentials.ts'
import { EMBEDDED_DATA_DIR, type DataOptions } from '../options.ts'
import { readServerAddress } from '../server-address.ts'
import { renderTable } from '../answers.ts'
import type { Terminal } from '../terminal.ts'

/** Shows the key pair of a data directory again, with its secret. */
export async function showCredentials(options: DataOptions, terminal: Terminal): Promise<void> {
  const { accessKeyId, secretAccessKey } = await readStored(options, terminal)
  terminal.answer(
    options.json === true
      ? `${JSON.stringify({ accessKeyId, secretAccessKey })}\n`
      : renderTable([
          ['access key id', accessKeyId],
          ['secret access key', secretAccessKey],
        ]),
  )
}

/** Prints `export` lines for a shell: our own variables first, then those of lakectl. */
export async function printVariables(
  options: DataOptions & { readonly endpoint?: string },
  terminal: Terminal,
): Promise<void> {
  const { accessKeyId, secretAccessKey } = await readStored(options, terminal)
  const endpoint = options.endpoint ?? (await findServer(options, terminal))
  const variables = {
    LAKEFS_ENDPOINT: endpoint,
    LAKEFS_ACCESS_KEY_ID: accessKeyId,
    LAKEFS_SECRET_ACCESS_KEY: secretAccessKey,
    LAKECTL_SERVER_ENDPOINT_URL: endpoint,
    LAKECTL_CREDENTIALS_ACCESS_KEY_ID: accessKeyId,
    LAKECTL_CREDENTIALS_SECRET_ACCESS_KEY: secretAccessKey,
  }
  terminal.answer(
    Object.entries(variables)
      .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
      .join(''),
  )
}

async function readStored(options: DataOptions, terminal: Terminal): Promise<KeyPair> {
  const dataDir = dataDirOf(options, terminal)
  await requireOwner(dataDir, terminal)
  const pair = await readStoredKeyPair(dataDir)
  if (pair !== undefined) return pair
  throw new MissingError('cli/no-credentials', `read the credentials stored in ${dataDir}: there are none`, {
    details: { dataDir },
    next: 'Start "perago lakefs" there once, or name the right directory with --data.',
  })
}

/** Whoever can read the file for another reason, such as root, is not shown what belongs to somebody else. */
async function requireOwner(dataDir: string, { say, style }: Terminal): Promise<void> {
  const access = await readCredentialsAccess(dataDir)
  if (access === undefined) return
  const { file, uid, isOpen } = access
  // Windows has no such ids.
  const user = process.getuid?.() ?? uid
  if (user !== uid) {
    throw new RefusedError(
      'cli/not-the-owner',
      `show the credentials in ${file}: they belong to the user ${uid}, and this is ${user}`,
      { next: `Run it as that user, such as with "sudo -u '#${uid}' …".` },
    )
  }
  if (isOpen)
    say(`${style.bad('warning:')} others may read ${file}; the next start of the server closes it\n`)
}

async function findServer(options: DataOptions, terminal: Terminal): Promise<string> {
  const dataDir = dataDirOf(options, terminal)
  const address = await readServerAddress(dataDir)
  if (address !== undefined) return address
  throw new MissingError('cli/no-server', `find the server of ${dataDir}: none is running`, {
    details: { dataDir },
    next: 'Start "perago lakefs" there, or name the address with --endpoint.',
  })
}

function dataDirOf({ data }: DataOptions, terminal: Terminal): string {
  return resolve(terminal.directory, data ?? EMBEDDED_DATA_DIR)
}

/** Safe for `eval`: in single quotes a shell changes nothing, and single quotes are escaped. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
