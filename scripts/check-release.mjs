// node scripts/check-release.mjs v1.2.3 [--notes]: whether the tag, the package and the changelog name one version; with `--notes`
// prints what the changelog says of it.
import { readFileSync } from 'node:fs'

const [tag, option] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m).slice(1)
const section = sections.find((text) => new RegExp(`^${escape(version)} - \\d{4}-\\d{2}-\\d{2}\n`).test(text))

if (tag !== `v${version}`) fail(`the tag is ${tag}, and the package is ${version}`)
else if (section === undefined) fail(`CHANGELOG.md has no section "## ${version} - YYYY-MM-DD"`)
else if (option === '--notes') console.log(section.slice(section.indexOf('\n')).trim())

function escape(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function fail(why) {
  console.error(why)
  process.exitCode = 1
}
