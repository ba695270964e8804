export function drawDiagram(source: string): string
