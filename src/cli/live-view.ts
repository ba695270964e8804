/**
 * A few lines at the end of a terminal that are drawn again and again, in place. Each line is written over the one before it, and only
 * then what is left of that one is erased, so nothing flickers.
 */

export interface Screen {
  write(text: string): void
  size(): { readonly columns: number; readonly rows: number }
  /** Returns how to stop listening. */
  onResize(listener: () => void): () => void
}

export interface LiveView {
  draw(lines: readonly string[]): void
  /** Written above what is drawn, and stays. */
  keep(line: string): void
  /** What was drawn last stays. */
  close(): void
}

const ERASE_TO_END_OF_LINE = '\u001b[K'
const ERASE_BELOW = '\u001b[J'
const ERASE_ALL = '\u001b[2J\u001b[H'
// A line that is too long, by characters of double width as well, must not become two: the way up is counted in lines.
const WITHOUT_WRAPPING = '\u001b[?7l'
const WITH_WRAPPING = '\u001b[?7h'

export function openLiveView(screen: Screen): LiveView {
  let drawn = 0
  let last: readonly string[] = []
  const paint = (kept: readonly string[], start: string): void => {
    const shown = fit(last, screen.size())
    const text = [...kept, ...shown].map((line) => `${line}${ERASE_TO_END_OF_LINE}\n`).join('')
    screen.write(`${WITHOUT_WRAPPING}${start}${text}${ERASE_BELOW}${WITH_WRAPPING}`)
    drawn = shown.length
  }
  const toTop = (): string => (drawn === 0 ? '\r' : `\r\u001b[${drawn}A`)
  // Terminals differ in what they do with the lines above: only an empty one is known.
  const forget = screen.onResize(() => paint([], ERASE_ALL))
  return {
    draw(lines) {
      last = lines
      paint([], toTop())
    },
    keep: (line) => paint([line], toTop()),
    close: forget,
  }
}

/** As many lines as the terminal has, but one: those in the middle are left out. */
function fit(lines: readonly string[], { columns, rows }: ReturnType<Screen['size']>): readonly string[] {
  const room = Math.max(3, rows - 1)
  const tail = room - 2
  const chosen =
    lines.length <= room
      ? lines
      : [...lines.slice(0, 1), `  … ${lines.length - 1 - tail} more`, ...lines.slice(-tail)]
  return chosen.map((line) => cut(line, columns))
}

function cut(line: string, columns: number): string {
  const characters = Array.from(new Intl.Segmenter().segment(line), ({ segment }) => segment)
  return characters.length <= columns ? line : `${characters.slice(0, columns - 1).join('')}…`
}
