export interface NavigationGroup {
  readonly text: string
  readonly link?: string
  readonly items?: readonly NavigationGroup[]
}
export function readNavigation(): readonly NavigationGroup[]
export function linksOf(groups: readonly NavigationGroup[]): readonly string[]
export function linkTo(page: string): string
