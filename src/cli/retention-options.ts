/** How long commands are told to keep what is over. */

import type { Command } from 'commander'
import type { LoadConfigurationRequest } from '../runtime/configuration/configuration.ts'

export interface RetentionOptions {
  readonly keepEvents?: string
  readonly keepVariables?: string
  readonly keepCheckpoints?: string
}

export function retentionOptions(command: Command): Command {
  return command
    .option(
      '--keep-events <duration>',
      'how long events are kept when their execution is over (default: 30d)',
    )
    .option('--keep-variables <duration>', 'how long its variables are kept (default: 7d)')
    .option('--keep-checkpoints <duration>', 'how long its checkpoints are kept (default: 7d)')
}

export function retentionFlags(options: RetentionOptions): NonNullable<LoadConfigurationRequest['flags']> {
  const { keepEvents, keepVariables, keepCheckpoints } = options
  return {
    ...(keepEvents === undefined ? {} : { 'retention.events': { flag: '--keep-events', value: keepEvents } }),
    ...(keepVariables === undefined
      ? {}
      : { 'retention.variables': { flag: '--keep-variables', value: keepVariables } }),
    ...(keepCheckpoints === undefined
      ? {}
      : { 'retention.checkpoints': { flag: '--keep-checkpoints', value: keepCheckpoints } }),
  }
}
