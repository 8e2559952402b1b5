/** What a text of JSON takes when it is parsed. */

/** Of an object or a list, besides what is in it, in characters. */
export const objectCharacters = 24

const [brace, bracket] = ['{'.charCodeAt(0), '['.charCodeAt(0)]

/** The characters of the text, and what its objects take besides: empty ones take twenty times their text. */
export function weightOf(json: string | Uint8Array): number {
  let objects = 0
  for (let at = 0; at < json.length; at++) {
    const code = typeof json === 'string' ? json.charCodeAt(at) : json[at]
    if (code === brace || code === bracket) objects++
  }
  return json.length + objects * objectCharacters
}
