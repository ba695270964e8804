// Prints the last line of a test run: how many of each, and why something was skipped. A skip that only shows in a
// list nobody reads is as good as a test that was never written.
import { writeSync } from 'node:fs'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** `outside` counts failures outside any test: a file that could not be loaded, an uncaught error. */
export function closingLine(tests: Iterable<TestCase>, outside: number): string {
  const counts = { passed: 0, failed: outside, skipped: 0 }
  const reasons = new Map<string, number>()
  let silent: { readonly first: string; count: number } | undefined
  for (const test of tests) {
    const result = test.result()
    // A test that never got its turn is not green either.
    if (result.state === 'pending') counts.failed += 1
    else counts[result.state] += 1
    if (result.state !== 'skipped') continue
    if (result.note !== undefined) reasons.set(result.note, (reasons.get(result.note) ?? 0) + 1)
    else (silent ??= { first: test.fullName, count: 0 }).count += 1
  }
  const sums = `${String(counts.passed)} passed, ${String(counts.failed)} failed, ${String(counts.skipped)} skipped`
  // A run narrowed by name skips all the others without a word; one of them is example enough.
  if (silent !== undefined) reasons.set(`no reason given, as by "${silent.first}"`, silent.count)
  const why = [...reasons].map(([reason, count]) => `${String(count)} × ${reason}`)
  return why.length === 0 ? sums : `${sums} (${why.join(' | ')})`
}

export class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const outside = modules.reduce((sum, module) => sum + module.errors().length, unhandled.length)
    const line = closingLine(tests, outside)
    // Other reporters may still write after this; the last line is written at process exit.
    process.once('exit', () => writeSync(process.stdout.fd, `\n${line}\n`))
  }
}
