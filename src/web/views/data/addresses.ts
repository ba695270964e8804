/** Addresses of this view, and of the runs that it names. */

import { addressOf } from '../../route.ts'

type Query = Readonly<Record<string, string | undefined>>

export const toRepository = (repository: string): string => addressOf(['data', repository])
export const toBranch = (repository: string, branch: string, query: Query = {}): string =>
  addressOf(['data', repository, 'branches', branch], query)
export const toCommit = (repository: string, id: string, query: Query = {}): string =>
  addressOf(['data', repository, 'commits', id], query)
export const toPlace = (repository: string, ref: string, path?: string): string =>
  addressOf(['data', repository, 'at', ref], { path: path === '' ? undefined : path })
export const toRun = (workflow: string): string => addressOf(['runs', workflow])
