/** What the commands around the embedded lakeFS agree on. */

/** Where it keeps everything, seen from the working directory. */
export const EMBEDDED_DATA_DIR = '.perago/lakefs'

/** Credentials for it without a trace in the list of processes. Not `LAKEFS_…`: those belong to a server one works with. */
export const EMBEDDED_VARIABLES = {
  accessKeyId: 'PERAGO_EMBEDDED_ACCESS_KEY_ID',
  secretAccessKey: 'PERAGO_EMBEDDED_SECRET_ACCESS_KEY',
} as const
