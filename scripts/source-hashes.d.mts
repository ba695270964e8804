export function hashSources(root: string): Readonly<Record<string, string>>
export function writeStamp(root: string, hashes: Readonly<Record<string, string>>): void
export function whyStale(root: string): string | undefined
