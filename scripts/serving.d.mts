export declare function startServing(
  command: string,
  args: readonly string[],
  options?: { readonly cwd?: string; readonly env?: Readonly<Record<string, string | undefined>> },
): Promise<{ readonly url: string; stop(): Promise<number | null> }>
