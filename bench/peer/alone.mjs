// A worker alone on the machine: how soon it polls, what it uses while idle, its memory with small tasks.
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { printTable, quantile, round } from '../support/figures.mjs'
import { inTurn, runSmallest } from './rows.mjs'
import { cellsOf, inBrackets } from './summary.mjs'
import { startWorker } from './workers.mjs'

const IDLE_SETTLE_MS = 5_000
const IDLE_MS = 15_000
const MEMORY_TASKS = 30

/** From the start of the command to its first poll, by several starts of each side in turn. */
export async function compareStarts(world, { starts, slots }) {
  const sides = defaultsOf(world)
  const found = new Map(sides.map(({ name }) => [name, []]))
  for (let turn = 0; turn < starts; turn++) {
    for (const side of inTurn(sides, turn)) {
      const worker = await startWorker(world.bench, side, { ...world, task: 'write', slots })
      found.get(side.name).push(worker.firstPollSeconds)
      await worker.close()
    }
  }
  const names = [...found.keys()]
  console.log(`From the start of a worker with ${slots} slots to its first poll, ${starts} starts.\n`)
  printTable(
    ['s', ...names],
    [
      ['median', ...names.map((name) => quantile(found.get(name), 0.5))],
      ['best', ...names.map((name) => Math.min(...found.get(name)))],
    ],
  )
  world.summary.add(
    'start to first poll, s, median (best)',
    cellsOf(found, (each) => inBrackets(quantile(each, 0.5), Math.min(...each))),
  )
}

export async function compareIdle(world, { slots }) {
  const found = new Map()
  for (const side of defaultsOf(world)) {
    const worker = await startWorker(world.bench, side, { ...world, task: 'write', slots })
    await wait(IDLE_SETTLE_MS)
    const before = worker.cpuMs()
    await wait(IDLE_MS)
    const cpuPercent = (100 * (worker.cpuMs() - before)) / IDLE_MS
    found.set(side.name, { cpuPercent, pssMib: worker.pssMib(), rssMib: worker.rssMib() })
    await worker.close()
  }
  const names = [...found.keys()]
  console.log(`A worker with ${slots} slots and nothing to do, for ${IDLE_MS / 1_000} s.\n`)
  printTable(
    ['', ...names],
    [
      ['processor, % of one core', ...names.map((name) => found.get(name).cpuPercent)],
      ['memory, MiB, shared counted once', ...names.map((name) => found.get(name).pssMib)],
      ['memory, MiB, RSS of all processes', ...names.map((name) => found.get(name).rssMib)],
    ],
  )
  world.summary.add(
    `idle with ${slots} slots, processor, % of one core`,
    cellsOf(found, ({ cpuPercent }) => round(cpuPercent)),
  )
}

/**
 * The most that a worker with one slot used during small tasks while no other worker ran. Memory that it shares with this
 * bench would count half: ours runs a copy of Node's program.
 */
export async function compareMemory(world) {
  const node = join(world.bench.directory, 'node')
  if (!existsSync(node)) copyFileSync(process.execPath, node)
  const found = new Map()
  for (const side of world.sides) {
    const worker = await startWorker(world.bench, side, { ...world, task: 'write', slots: 1, node })
    const stopWatching = worker.watchPss()
    for (let turn = 0; turn < MEMORY_TASKS; turn++) await runSmallest(world, side, 'write')
    found.set(side.name, { pssMib: stopWatching(), rssMib: worker.peakRssMib() })
    await worker.close()
  }
  const names = [...found.keys()]
  console.log(
    `Memory at most of a worker that is alone, during ${MEMORY_TASKS} tasks with 10 × 1 KiB, one changed.\n`,
  )
  printTable(
    ['MiB', ...names],
    [
      ['shared counted once', ...names.map((name) => found.get(name).pssMib)],
      ['RSS of all processes', ...names.map((name) => found.get(name).rssMib)],
    ],
  )
  world.summary.add(
    'memory of one worker alone, small tasks, MiB, shared counted once (RSS)',
    cellsOf(found, ({ pssMib, rssMib }) => inBrackets(pssMib, rssMib)),
  )
}

/** The peer, and ours with default settings. */
function defaultsOf({ sides }) {
  return sides.filter(({ isOurs, isWarm }) => !isOurs || isWarm)
}
