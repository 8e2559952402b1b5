/**
 * Finds a text in another, in a time that their two lengths bound. The runtime's own search compares a long text anew at
 * each place: whoever writes both holds the process for their product.
 */

/** As long as this it is left to the runtime. */
const shortMax = 32

/** As `text.indexOf(part, after)`. */
export function positionIn(text: string, part: string, after = 0): number {
  if (part.length <= shortMax) return text.indexOf(part, after)
  if (after + part.length > text.length) return -1
  const from = text.indexOf(part.slice(0, shortMax), after)
  return from < 0 ? -1 : searched(text, part, from)
}

/** As `text.lastIndexOf(part)`. */
export function lastPositionIn(text: string, part: string): number {
  return part.length <= shortMax ? text.lastIndexOf(part) : searched(text, part, 0, true)
}

/** As `text.split(part)`, for a part that is not empty. */
export function splitBy(text: string, part: string): readonly string[] {
  if (part.length <= shortMax) return text.split(part)
  const texts: string[] = []
  let from = 0
  for (let at = positionIn(text, part); at >= 0; at = positionIn(text, part, from)) {
    texts.push(text.slice(from, at))
    from = at + part.length
  }
  texts.push(text.slice(from))
  return texts
}

/** Used again: one for each search would be garbage outside of the heap, which is collected late. */
const numbers = new Int32Array(8 * 1024)

/** By Knuth, Morris and Pratt: no character of the text is read again. */
function searched(text: string, part: string, from: number, isLast = false): number {
  // For each beginning of the part: the length of the longest shorter one that it ends with.
  const shorter = part.length > numbers.length ? new Int32Array(part.length) : numbers
  shorter[0] = 0
  for (let at = 1, length = 0; at < part.length; at++) {
    const code = part.charCodeAt(at)
    while (length > 0 && code !== part.charCodeAt(length)) length = shorter[length - 1] ?? 0
    if (code === part.charCodeAt(length)) length++
    shorter[at] = length
  }
  let found = -1
  for (let at = from, length = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    while (length > 0 && code !== part.charCodeAt(length)) length = shorter[length - 1] ?? 0
    if (code === part.charCodeAt(length)) length++
    if (length < part.length) continue
    found = at + 1 - length
    if (!isLast) return found
    length = shorter[length - 1] ?? 0
  }
  return found
}
