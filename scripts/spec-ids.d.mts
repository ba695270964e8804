export interface Spec {
  readonly page: string
  readonly text: string
}
export function readSpecs(directory: string): ReadonlyMap<string, Spec>
export function readNotYet(directory: string): ReadonlyMap<string, string>
export function idsOfTitle(title: string): string[]
