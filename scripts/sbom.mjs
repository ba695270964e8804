// `npm run sbom`: what the package needs when it runs, from the lock file, as CycloneDX 1.6. Fails on a licence that is not
// among those that may be passed on together with Apache-2.0.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

const ALLOWED = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'])

const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'))
const lockText = readFileSync('package-lock.json', 'utf8')
const { packages } = JSON.parse(lockText)

/** Other flags say that a package is for development, or for a store that its user installs. */
const isRuntime = ([path, entry]) =>
  path.includes('node_modules/') && !entry.link && !entry.dev && !entry.devOptional && !entry.peer

const components = Object.entries(packages).filter(isRuntime).map(toComponent).sort(byPurl)
const refused = components.filter(
  (component) => !isAllowed(component.licenses[0].license?.id ?? component.licenses[0].expression),
)
for (const { purl, licenses } of refused)
  console.error(`${purl}: the licence ${JSON.stringify(licenses)} is not allowed`)
if (refused.length > 0) process.exitCode = 1

const own = purlOf(name, version)
console.log(
  JSON.stringify(
    {
      bomFormat: 'CycloneDX',
      specVersion: '1.6',
      // The same lock file gives the same document.
      serialNumber: `urn:uuid:${uuidOf(lockText)}`,
      version: 1,
      metadata: {
        component: {
          type: 'library',
          'bom-ref': own,
          name,
          version,
          purl: own,
          licenses: [{ license: { id: license } }],
        },
      },
      components,
    },
    undefined,
    2,
  ),
)

function toComponent([path, entry]) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = purlOf(name, entry.version)
  const [algorithm, digest] = (entry.integrity ?? '').split('-')
  return {
    type: 'library',
    'bom-ref': `${purl}#${path}`,
    name,
    version: entry.version,
    scope: entry.optional === true ? 'optional' : 'required',
    ...(algorithm === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    }),
    licenses: [toLicence(entry.license)],
    purl,
  }
}

function toLicence(said = 'NOASSERTION') {
  return / (OR|AND|WITH) /.test(said) ? { expression: said } : { license: { id: said } }
}

/** Of a choice one is enough; of a sum each is needed. */
function isAllowed(said) {
  return said
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((id) => ALLOWED.has(id)))
}

function purlOf(name, version) {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

function byPurl(a, b) {
  return a['bom-ref'] < b['bom-ref'] ? -1 : 1
}

function uuidOf(text) {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
