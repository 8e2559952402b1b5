/** `StringLike`: a star matches any characters, a question mark one; a backslash escapes both. */

import { type Steps, spend } from './steps.ts'

interface Piece {
  readonly kind: 'star' | 'any' | 'text'
  readonly text: string
}

/** Time is bounded by the product of the two lengths, whatever the pattern, and by the steps. Without them it is false. */
export function like(text: string, pattern: string, steps: Steps): boolean {
  if (!spend(steps, text.length + pattern.length)) return false
  const pieces = piecesOf(pattern)
  const characters = [...text]
  let at = 0
  let piece = 0
  /** Where to continue when the text after the last star did not match: the star takes one more character. */
  let star = -1
  let starAt = 0
  while (at < characters.length) {
    if (!spend(steps, 1)) return false
    const current = pieces[piece]
    if (current?.kind === 'star') {
      star = piece
      starAt = at
      piece += 1
    } else if (current?.kind === 'any' || current?.text === characters[at]) {
      piece += 1
      at += 1
    } else if (star >= 0) {
      starAt += 1
      at = starAt
      piece = star + 1
    } else {
      return false
    }
  }
  while (pieces[piece]?.kind === 'star') piece += 1
  return piece === pieces.length
}

function piecesOf(pattern: string): readonly Piece[] {
  const pieces: Piece[] = []
  const characters = [...pattern]
  for (let at = 0; at < characters.length; at++) {
    const text = characters[at] as string // at < length
    const next = characters[at + 1]
    if (text === '\\' && (next === '*' || next === '?' || next === '\\')) {
      pieces.push({ kind: 'text', text: next })
      at += 1
    } else if (text === '*') pieces.push({ kind: 'star', text: '' })
    else if (text === '?') pieces.push({ kind: 'any', text: '' })
    else pieces.push({ kind: 'text', text })
  }
  return pieces
}
