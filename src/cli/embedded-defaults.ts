/** Shared by the commands of the embedded lakeFS. */

/** Its data directory, relative to the working directory. */
export const EMBEDDED_DATA_DIR = '.perago/lakefs'

/** Its credentials, so that they do not show in the list of processes. `LAKEFS_…` are those of the configured server. */
export const EMBEDDED_VARIABLES = {
  accessKeyId: 'PERAGO_EMBEDDED_ACCESS_KEY_ID',
  secretAccessKey: 'PERAGO_EMBEDDED_SECRET_ACCESS_KEY',
} as const
