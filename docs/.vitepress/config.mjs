// How `npm run docs` shows the documents. They are copied to one directory first, beside the pages on the API.
import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { linkedFiles, showWithinSite } from '../../scripts/docs/markdown.mjs'
import { readNavigation } from '../../scripts/docs/navigation.mjs'
import { slugOf } from '../../scripts/docs/pages.mjs'

const API = { text: 'API', link: '/api/' }

export default {
  title: 'perago',
  description: 'Publish versioned data from workflow tasks without losing or overwriting anybody’s work.',
  srcDir: '../.cache/docs',
  outDir: '../site',
  cacheDir: '../.cache/vitepress',
  metaChunk: true,
  ignoreDeadLinks: 'localhostLinks',
  markdown: { anchor: { slugify: slugOf }, config: showWithinSite },
  themeConfig: {
    nav: [{ text: 'Documentation', link: '/documentation' }, API, { text: 'Changelog', link: '/CHANGELOG' }],
    sidebar: [...readNavigation(), API],
    outline: [2, 3],
    search: { provider: 'local' },
  },
  // A page on an entry of the API is larger than what Vite expects of an application.
  vite: { build: { chunkSizeWarningLimit: 4096 } },
  buildEnd: ({ outDir }) => {
    for (const file of linkedFiles()) {
      const to = join(outDir, `files/${file}.txt`)
      mkdirSync(dirname(to), { recursive: true })
      cpSync(file, to)
    }
  },
}
