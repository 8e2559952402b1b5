/** One word of a shell command, quoted, whatever it contains. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
