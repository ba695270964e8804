// Draws the Mermaid diagrams of the documents while the site is built, so that a reader's browser runs nothing for them.
import { renderMermaidSVG } from 'beautiful-mermaid'

/** The picture of a diagram, with colours that the page gives. A diagram that cannot be drawn fails the build. */
export function drawDiagram(source) {
  const svg = renderMermaidSVG(source)
  // Its style sheet would ask another host for a font; the site has a style of its own for diagrams.
  return svg.replace(/<style>[\s\S]*?<\/style>/g, '').replace(/ style="[^"]*"/, ' role="img"')
}
