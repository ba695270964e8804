export interface BuiltSite {
  readonly base: string
  readonly files: ReadonlySet<string>
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>
}
export function judgeSite(directory: string, base: string): string[]
export function judgePage(file: string, text: string, site: BuiltSite): string[]
export function judgeStyle(file: string, text: string): string[]
