/** Where something stands in a template, as the chain of names that leads there. It holds no values. */

/** One step below its parent; the template itself is `undefined`. */
export interface Place {
  readonly parent: Place | undefined
  readonly key: string | number
}

export function placeIn(parent: Place | undefined, key: string | number): Place {
  return { parent, key }
}

/** From the template down. */
export function keysOf(place: Place | undefined): readonly (string | number)[] {
  const keys: (string | number)[] = []
  for (let at = place; at !== undefined; at = at.parent) keys.push(at.key)
  return keys.reverse()
}

const plainName = /^[A-Za-z_$][\w$-]*$/

/** `resources[0].properties.count`; names that could be misread stand in quotes. */
export function pathOf(place: Place | undefined): string {
  let path = ''
  for (const key of keysOf(place)) path = pathIn(path, key)
  return path
}

export function pathIn(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  const shown = key.length > 120 ? `${key.slice(0, 120)}…` : key
  if (!plainName.test(shown)) return `${path}['${shown}']`
  return path === '' ? shown : `${path}.${shown}`
}
