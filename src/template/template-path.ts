/** The path of a value inside a template, as a chain of names. It holds no values. */

/** One step below its parent. The template itself is `undefined`. */
export interface TemplatePath {
  readonly parent: TemplatePath | undefined
  readonly key: string | number
}

export function childPath(parent: TemplatePath | undefined, key: string | number): TemplatePath {
  return { parent, key }
}

/** Keys from the template down. */
export function keysOf(path: TemplatePath | undefined): readonly (string | number)[] {
  const keys: (string | number)[] = []
  for (let at = path; at !== undefined; at = at.parent) keys.push(at.key)
  return keys.reverse()
}

const plainName = /^[A-Za-z_$][\w$-]*$/

/** `resources[0].properties.count`; ambiguous names are quoted. */
export function formatPath(path: TemplatePath | undefined): string {
  let text = ''
  for (const key of keysOf(path)) text = appendPath(text, key)
  return text
}

export function appendPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  const shown = key.length > 120 ? `${key.slice(0, 120)}…` : key
  if (!plainName.test(shown)) return `${path}['${shown}']`
  return path === '' ? shown : `${path}.${shown}`
}
