/** What /proc says about mounted file systems. */

export interface Mount {
  readonly id: string
  /** `major:minor`, as in `st_dev`. */
  readonly device: string
  /** Which directory of the file system is mounted. */
  readonly root: string
  readonly mountPoint: string
  readonly type: string
  /** Of the file system, not of this mount of it. */
  readonly options: readonly string[]
}

/** Reads the text of a `mountinfo` file: see proc_pid_mountinfo(5). */
export function parseMounts(mountinfo: string): readonly Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [before = '', after] = line.split(' - ')
    if (after === undefined) return []
    const [id = '', , device = '', root = '', mountPoint = ''] = before.split(' ')
    const [type = '', , options = ''] = after.split(' ')
    return [
      {
        id,
        device,
        root: unescape(root),
        mountPoint: unescape(mountPoint),
        type,
        options: options.split(',').map(unescape),
      },
    ]
  })
}

/** `st_dev` in the form of `mountinfo`. */
export function deviceName(device: bigint): string {
  const major = ((device >> 8n) & 0xfffn) | ((device >> 32n) & ~0xfffn)
  const minor = (device & 0xffn) | ((device >> 12n) & ~0xffn)
  return `${major}:${minor}`
}

/** Spaces, commas and the like are written as three octal digits. */
function unescape(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, octal: string) => String.fromCharCode(parseInt(octal, 8)))
}
