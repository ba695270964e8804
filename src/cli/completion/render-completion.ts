/** Scripts for shells, made from the commands: nothing is started when somebody presses the key. */

import type { Command } from 'commander'
import type { Shell } from '../options.ts'
import { renderBash } from './render-bash.ts'
import { renderFish } from './render-fish.ts'
import { renderZsh } from './render-zsh.ts'
import { readShapes, type CommandShape } from './shape.ts'

const RENDER: Readonly<Record<Shell, (shapes: readonly CommandShape[]) => string>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
}

export function renderCompletion(shell: Shell, program: Command): string {
  return RENDER[shell](readShapes(program))
}
