import { readFile } from 'node:fs/promises'
import ts from 'typescript'

const compilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  verbatimModuleSyntax: true,
}

/** Strips the types as a module is loaded. */
export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context)
  const text = await readFile(new URL(url), 'utf8')
  const source = ts.transpileModule(text, { compilerOptions }).outputText
  return { format: 'module', shortCircuit: true, source }
}
