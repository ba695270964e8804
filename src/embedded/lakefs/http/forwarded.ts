/** Whether a proxy sent a request on: then the caller is not the program of this machine that the connection shows. */

import type { IncomingMessage } from 'node:http'

import { EMBEDDED_SECRET_MIN_CHARS } from '../../limits.ts'

export const FORWARDED_MESSAGE = `this server's secret has fewer than ${EMBEDDED_SECRET_MIN_CHARS} characters, so it answers programs of its own machine only, not a proxy`

const HEADERS = /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|x-client-ip|true-client-ip|cf-.*)$/

export function isForwarded({ httpVersion, headers }: IncomingMessage): boolean {
  // A program of today speaks 1.1; a proxy that says nothing else speaks 1.0.
  return httpVersion === '1.0' || Object.keys(headers).some((name) => HEADERS.test(name))
}
