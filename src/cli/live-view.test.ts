import { expect, test } from 'vitest'
import { openLiveView, type Screen } from './live-view.ts'

const ESCAPE = '\u001b'
const TOKEN = new RegExp(`${ESCAPE}\\[[?\\d]*[A-Za-z]|[\\s\\S]`, 'gu')
const COMMAND = new RegExp(`^${ESCAPE}\\[\\??(\\d*)([A-Za-z])$`)

/** A terminal that knows what the view uses, and keeps what it has erased a moment ago, to see flicker. */
class FakeTerminal implements Screen {
  columns = 20
  rows = 6
  lines: string[] = ['$ perago']
  row = 1
  column = 0
  wraps = true
  resized: (() => void) | undefined
  erasedWhole = 0

  size = () => ({ columns: this.columns, rows: this.rows })
  onResize = (listener: () => void) => {
    this.resized = listener
    return () => (this.resized = undefined)
  }

  write(text: string): void {
    for (const [token] of text.matchAll(TOKEN)) this.#take(token)
  }

  #take(token: string): void {
    const [, count = '1', name = ''] = COMMAND.exec(token) ?? []
    if (token === '\n') this.row += 1
    if (token === '\n' || token === '\r') this.column = 0
    else if (name === 'A') this.row = Math.max(0, this.row - Number(count))
    else if (name === 'K') this.lines[this.row] = (this.lines[this.row] ?? '').slice(0, this.column)
    else if (name === 'J' && count === '2') this.lines = []
    else if (name === 'J') this.lines.length = Math.min(this.lines.length, this.row)
    else if (name === 'H') this.row = this.column = 0
    else if (name === 'h' || name === 'l') this.wraps = name === 'h'
    else this.#print(token)
    if (this.lines.length <= 1) this.erasedWhole += 1
  }

  #print(character: string): void {
    if (this.column >= this.columns) {
      if (!this.wraps) return
      this.row += 1
      this.column = 0
    }
    const line = (this.lines[this.row] ?? '').padEnd(this.column)
    this.lines[this.row] = line.slice(0, this.column) + character + line.slice(this.column + 1)
    this.column += 1
  }

  text = (): string => this.lines.join('\n')
}

test('CL-154 lines are drawn in place: over those before, of which nothing is left', () => {
  const terminal = new FakeTerminal()
  const view = openLiveView(terminal)
  view.draw(['daily running', '  ▸ ingest', '  · clean'])
  view.draw(['daily running', '  ✓ ingest', '  ▸ clean'])
  expect(terminal.text()).toBe('$ perago\ndaily running\n  ✓ ingest\n  ▸ clean')
  view.draw(['daily ok'])
  expect(terminal.text()).toBe('$ perago\ndaily ok')
})

test('CL-154 no line is erased before the new one stands over it, so nothing flickers', () => {
  const terminal = new FakeTerminal()
  const view = openLiveView(terminal)
  view.draw(['daily running', '  ▸ ingest'])
  terminal.erasedWhole = 0
  view.draw(['daily running', '  ✓ ingest'])
  expect(terminal.erasedWhole).toBe(0)
})

test('CL-154 a warning stays above what is drawn', () => {
  const terminal = new FakeTerminal()
  const view = openLiveView(terminal)
  view.draw(['daily running', '  · clean'])
  view.keep('nobody polls clean')
  view.draw(['daily running', '  ▸ clean'])
  expect(terminal.text()).toBe('$ perago\nnobody polls clean\ndaily running\n  ▸ clean')
})

test('CL-154 lines are cut to the width, and those in the middle left out, so that the way up is right', () => {
  const terminal = new FakeTerminal()
  const view = openLiveView(terminal)
  const lines = ['daily running', ...Array.from({ length: 9 }, (_, at) => `  ▸ ${at} ${'x'.repeat(40)}`)]
  view.draw(lines)
  view.draw(lines)
  const drawn = terminal.text().split('\n').slice(1)
  expect(drawn).toHaveLength(terminal.rows - 1)
  expect(drawn.every((line) => Array.from(line).length <= terminal.columns)).toBe(true)
  expect([drawn[0], drawn[1], drawn[4]]).toEqual(['daily running', '  … 6 more', `  ▸ 8 ${'x'.repeat(13)}…`])
})

test('CL-154 a terminal whose size has changed is drawn anew, as a whole, until the view is closed', () => {
  const terminal = new FakeTerminal()
  const view = openLiveView(terminal)
  view.draw(['daily running', '  ▸ ingest and clean'])
  terminal.columns = 10
  terminal.resized?.()
  expect(terminal.text()).toBe('daily run…\n  ▸ inges…')
  expect(terminal.wraps).toBe(true)
  view.close()
  expect(terminal.resized).toBeUndefined()
})
