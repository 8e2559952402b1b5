/** JSON while somebody types it. */

export interface ReadJson {
  readonly value: unknown
  /** Why it cannot be parsed. */
  readonly problem: string | undefined
}

export function readJson(text: string): ReadJson {
  try {
    return { value: JSON.parse(text) as unknown, problem: undefined }
  } catch (error) {
    return { value: undefined, problem: String((error as Error).message) }
  }
}
