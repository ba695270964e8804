/** What may be found of a directory in what /proc says about a process. */

import { closeSync, openSync, readFileSync, statfsSync, statSync, type BigIntStats } from 'node:fs'
import { basename } from 'node:path'
import { deviceName, parseMounts } from '../mounts.ts'

export interface HeldDirectory {
  /** Whether a path is the directory or below it. */
  isBelow(path: string): boolean
  /** Whether it is a file or directory of it. */
  hasInode(stats: Pick<BigIntStats, 'dev' | 'ino'>): boolean
  /** Whether a `maps` file names a file of it. */
  isMappedIn(maps: string): boolean
  /** Whether a `mountinfo` file names the directory, or something in it. */
  isNamedIn(mountinfo: string): boolean
}

export interface HeldDirectoryOptions {
  readonly path: string
  /** A file in it, whose device may be another one than that of the directory. */
  readonly file: string
  /** Names it had before, which nothing else has. */
  readonly formerNames: readonly string[]
  /** Whether a file or directory in it has this inode. */
  readonly hasInode: (inode: bigint) => boolean
}

export function describeHeld({ path, file, formerNames, hasInode }: HeldDirectoryOptions): HeldDirectory {
  const devices = new Set([path, file].map((each) => statSync(each, { bigint: true }).dev))
  const mapped = mappedDevices(path, devices)
  const known = new Map<bigint, boolean>()
  const has = (inode: bigint): boolean => {
    const found = known.get(inode) ?? hasInode(inode)
    known.set(inode, found)
    return found
  }
  const names = [basename(path), ...formerNames]
  return {
    isBelow: (other) => other === path || other.startsWith(`${path}/`),
    hasInode: ({ dev, ino }) => devices.has(dev) && has(ino),
    isMappedIn: (maps) => {
      if (maps.includes(`${path}/`)) return true
      for (const [, device = '', inode = '0'] of maps.matchAll(MAPPED_FILE))
        if ((mapped === 'any' || mapped.has(device)) && has(BigInt(inode))) return true
      return false
    },
    isNamedIn: (mountinfo) => names.some((name) => mountinfo.includes(name)),
  }
}

/** Address, permissions, offset, device and inode; the last is 0 for memory without a file. */
const MAPPED_FILE = /^\S+ \S+ \S+ ([0-9a-f]+:[0-9a-f]+) ([1-9]\d*)/gm

/**
 * How `maps` names the device. On Btrfs that is not the one of stat(2), but the one of `mountinfo`. On an overlay it may be the
 * one below it, which is not known here.
 */
function mappedDevices(path: string, devices: ReadonlySet<bigint>): ReadonlySet<string> | 'any' {
  if (statfsSync(path).type === OVERLAY) return 'any'
  const found = [...devices].map(deviceName)
  const mount = mountOf(path)
  if (mount !== undefined) found.push(mount)
  return new Set(found.map(asMapped))
}

const OVERLAY = 0x794c7630

function mountOf(path: string): string | undefined {
  const directory = openSync(path, 'r')
  try {
    const [, id] = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${directory}`, 'utf8')) ?? []
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8')).find((mount) => mount.id === id)?.device
  } finally {
    closeSync(directory)
  }
}

/** Hexadecimal, with two digits at least. */
function asMapped(device: string): string {
  return device
    .split(':')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join(':')
}
