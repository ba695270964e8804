/**
 * The action that makes lakeFS refuse a merge whose expectation is not met. It runs inside the server's own loop: the first
 * parent of the commit it is given is the head that this very write replaces.
 */

import { createHash } from 'node:crypto'
import { ACTIONS_FOLDER } from '../base/reserved-paths.ts'

export const FENCE_PATH = `${ACTIONS_FOLDER}publish-fence.yaml`
/** The key of a merge's metadata that carries the expectation; part of the file. */
export const EXPECTED_HEAD = 'publish.expected_head'
/** Part of the message with which the server refuses. */
export const FENCE_MARKER = 'PUBLISH_FENCE_STALE'

/** Never changed without a new path: workers compare it byte for byte. */
export const FENCE_FILE = `name: publish-fence
description: refuse a merge whose destination head is not the one the publisher expects
on:
  pre-merge: {}
hooks:
  - id: expected_head
    type: lua
    properties:
      script: |
        local want = action.commit.metadata["${EXPECTED_HEAD}"]
        if want ~= nil then
          local seen = action.commit.parents[1]
          if seen ~= want then
            error("${FENCE_MARKER} head=" .. tostring(seen) .. " expected=" .. want)
          end
        end
`

/** The checksum of the file where a store tells MD5; elsewhere the bytes are compared. */
export const FENCE_MD5 = createHash('md5').update(FENCE_FILE).digest('hex')
