// What the site changes in Markdown: links, diagrams, and texts that its templates would take for their own.
import { drawDiagram } from './diagrams.mjs'
import { listPages, placeOf, resolveLink } from './pages.mjs'

const linked = new Set()

/** The files that are no pages, to which the pages rendered so far lead. */
export function linkedFiles() {
  return linked
}

/** Extends a renderer of VitePress (markdown-it). */
export function showWithinSite(md) {
  const pageAt = new Map(listPages().map((page) => [placeOf(page), page]))
  md.core.ruler.push('links-within-site', ({ tokens, env }) => {
    const page = pageAt.get(env.relativePath)
    if (page === undefined) return
    for (const token of tokens) relink(page, token.children ?? [])
  })
  const { rules } = md.renderer
  const { fence } = rules
  rules.fence = (tokens, index, ...more) =>
    tokens[index].info.trim() === 'mermaid'
      ? `<div class="diagram" v-pre>${drawDiagram(tokens[index].content)}</div>\n`
      : fence(tokens, index, ...more)
  for (const kind of ['text', 'code_inline']) {
    const render = rules[kind]
    rules[kind] = (...given) => render(...given).replaceAll('{{', '&#123;&#123;')
  }
}

function relink(page, tokens) {
  let isDropped = false
  for (const token of tokens) {
    if (token.type === 'link_open') {
      const to = resolveLink(page, token.attrGet('href'))
      isDropped = to === undefined
      if (to?.file !== undefined) {
        linked.add(to.file)
        token.attrSet('target', '_self')
      }
      if (to !== undefined) token.attrSet('href', to.href)
    }
    if (isDropped && token.type.startsWith('link_'))
      Object.assign(token, { type: 'text', content: '', nesting: 0 })
  }
}
