// Which promises of docs/specs are proven, by the reports of test runs.
//   npm run specs                            a list for people, by the last run
//   npm run --silent specs -- --json         one document: {"proven", "notYet", "unproven"}
//   npm run specs -- --report A --report B   several runs together: a test that one of them skipped may run in another
// Exit 0: every promise is proven or excused with a reason; 1: some are not; 2: there is no report to read.
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { idsOfTitle, readNotYet, readSpecs } from './spec-ids.mjs'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    report: { type: 'string', multiple: true, default: ['test-report/vitest.json'] },
    specs: { type: 'string', default: 'docs/specs' },
  },
})

for (const report of options.report) {
  if (existsSync(report)) continue
  console.error(`specs: read ${report}: there is none. Run \`npm test\` first.`)
  process.exit(2)
}

const specs = readSpecs(options.specs)
const notYet = readNotYet(options.specs)
const tests = readTests(options.report)
const summary = summarise()
const problems = findProblems()

if (options.json) console.log(JSON.stringify(summary, null, 2))
else printForPeople()
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

/** id → the tests whose title names it. */
function readTests(reports) {
  const byId = new Map()
  for (const test of mergeRuns(reports)) {
    for (const id of idsOfTitle(test.title)) byId.set(id, [...(byId.get(id) ?? []), test])
  }
  return byId
}

/** Every test once. One that failed in any run failed; one that passed in any other passed; the rest were skipped. */
function mergeRuns(reports) {
  const merged = new Map()
  for (const report of reports) {
    for (const [key, test] of readRun(report)) {
      const statuses = [test.status, merged.get(key)?.status]
      const status = ['failed', 'passed'].find((each) => statuses.includes(each)) ?? test.status
      merged.set(key, { ...test, status })
    }
  }
  return [...merged.values()]
}

/** File and full title → test. Of tests with one title in one file, the worst counts. */
function readRun(path) {
  const run = new Map()
  for (const { name, assertionResults } of JSON.parse(readFileSync(path, 'utf8')).testResults) {
    for (const { title, fullName, status } of assertionResults) {
      const key = `${name} ${fullName}`
      const isWorse = status !== 'passed' && run.get(key)?.status !== 'failed'
      if (isWorse || !run.has(key)) run.set(key, { title, name: fullName, status })
    }
  }
  return run
}

/** A promise is proven when it has tests and every one of them passed: a skipped test proves nothing. */
function summarise() {
  const proven = {}
  const unproven = []
  for (const id of specs.keys()) {
    const own = tests.get(id) ?? []
    if (own.length > 0 && own.every(hasPassed)) proven[id] = own.length
    else if (!notYet.has(id)) unproven.push(id)
  }
  return { proven, notYet: Object.fromEntries(notYet), unproven }
}

function hasPassed({ status }) {
  return status === 'passed'
}

function findProblems() {
  const found = summary.unproven.flatMap((id) => [
    `${id} is neither proven nor in not-yet.md: ${specs.get(id).text}`,
    ...(tests.get(id) ?? [])
      .filter((test) => !hasPassed(test))
      .map(({ status, name }) => `    ${status}  ${name}`),
  ])
  for (const [id, reason] of notYet) {
    if (!specs.has(id)) found.push(`${id} is in not-yet.md, but no page promises it`)
    if (reason === '') found.push(`${id} is in not-yet.md without a reason`)
    if (id in summary.proven) found.push(`${id} is proven: take it out of not-yet.md`)
  }
  for (const [id, own] of tests) {
    if (!specs.has(id)) found.push(`${id} is named by "${own[0].name}", but no page promises it`)
  }
  return found
}

function printForPeople() {
  for (const [id, spec] of specs) {
    const own = tests.get(id) ?? []
    if (own.length === 0 && notYet.has(id)) continue
    console.log(`${id}  ${spec.text}`)
    for (const test of own) console.log(`    ${test.status}  ${test.name}`)
  }
  const count = (of) => Object.keys(of).length
  console.log(
    `${count(summary.proven)} proven, ${count(summary.notYet)} not yet, ${summary.unproven.length} unproven`,
  )
}
