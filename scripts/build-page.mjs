// Builds the page of src/web into a directory, with the licences of what it is made with, and each file compressed beside it.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'vite'

const SMALL = 1_000

export async function buildPage(directory) {
  const bundled = new Set()
  await build({
    root: 'src/web',
    configFile: false,
    logLevel: 'warn',
    base: './',
    build: {
      outDir: resolve(directory),
      emptyOutDir: true,
      target: 'es2022',
      // Inlined files would be `data:` addresses, which the policy of the page allows for images alone.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
    },
    plugins: [{ name: 'licences', moduleParsed: ({ id }) => void bundled.add(packageOf(id)) }],
  })
  writeFileSync(join(directory, 'licences.txt'), licencesOf(bundled))
  for (const name of readdirSync(directory, { recursive: true })) {
    if (!/\.(js|css|html|svg|txt)$/.test(name)) continue
    const bytes = readFileSync(join(directory, name))
    if (bytes.length < SMALL) continue
    writeFileSync(join(directory, `${name}.br`), brotliCompressSync(bytes, QUALITY))
    writeFileSync(join(directory, `${name}.gz`), gzipSync(bytes, { level: 9 }))
  }
}

const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }

function packageOf(id) {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/'))?.[1]
}

/** They ask for their text to go along with copies. */
function licencesOf(bundled) {
  return [...bundled]
    .filter((name) => name !== undefined)
    .sort()
    .map((name) => {
      const directory = join('node_modules', name)
      const { version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
      const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry))
      const text = file === undefined ? '' : readFileSync(join(directory, file), 'utf8').trim()
      return `${name} ${version} (${license})\n\n${text}\n`
    })
    .join('\n----\n\n')
}
