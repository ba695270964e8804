// Which promises of docs/specs are proven, by the report of the last test run.
//   npm run specs                      a list for people
//   npm run --silent specs -- --json   one document: {"proven", "notYet", "unproven"}
// Exit 0: every promise is proven or excused with a reason; 1: some are not; 2: there is no report to read.
import { existsSync, readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { idsOfTitle, readNotYet, readSpecs } from './spec-ids.mjs'

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    report: { type: 'string', default: 'test-report/vitest.json' },
    specs: { type: 'string', default: 'docs/specs' },
  },
})

if (!existsSync(options.report)) {
  console.error(`specs: read ${options.report}: there is none. Run \`npm test\` first.`)
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
function readTests(path) {
  const byId = new Map()
  for (const file of JSON.parse(readFileSync(path, 'utf8')).testResults) {
    for (const test of file.assertionResults) {
      for (const id of idsOfTitle(test.title)) {
        byId.set(id, [...(byId.get(id) ?? []), { title: test.fullName, status: test.status }])
      }
    }
  }
  return byId
}

/** A promise is proven when at least one of its tests passed and none failed. */
function summarise() {
  const proven = {}
  const unproven = []
  for (const id of specs.keys()) {
    const own = tests.get(id) ?? []
    const passed = own.filter((test) => test.status === 'passed').length
    const failed = own.some((test) => test.status === 'failed')
    if (passed > 0 && !failed) proven[id] = passed
    else if (!notYet.has(id)) unproven.push(id)
  }
  return { proven, notYet: Object.fromEntries(notYet), unproven }
}

function findProblems() {
  const found = summary.unproven.map(
    (id) => `${id} is neither proven nor in not-yet.md: ${specs.get(id).text}`,
  )
  for (const [id, reason] of notYet) {
    if (!specs.has(id)) found.push(`${id} is in not-yet.md, but no page promises it`)
    if (reason === '') found.push(`${id} is in not-yet.md without a reason`)
    if (id in summary.proven) found.push(`${id} is proven: take it out of not-yet.md`)
  }
  for (const [id, own] of tests) {
    if (!specs.has(id)) found.push(`${id} is named by "${own[0].title}", but no page promises it`)
  }
  return found
}

function printForPeople() {
  for (const [id, spec] of specs) {
    const own = tests.get(id) ?? []
    if (own.length === 0 && notYet.has(id)) continue
    console.log(`${id}  ${spec.text}`)
    for (const test of own) console.log(`    ${test.status}  ${test.title}`)
  }
  const count = (of) => Object.keys(of).length
  console.log(
    `${count(summary.proven)} proven, ${count(summary.notYet)} not yet, ${summary.unproven.length} unproven`,
  )
}
