export interface Spec {
  readonly page: string
  readonly text: string
}
export const SPEC_DIRECTORIES: readonly string[]
export function readSpecs(...directories: string[]): ReadonlyMap<string, Spec>
export function readNotYet(directory: string): ReadonlyMap<string, string>
export function idsOfTitle(title: string): string[]
