/** The log of a simulated container: plausible lines that say they are simulated. Pure and bounded. */

import type { SimulatedContainer } from './group-file.ts'

interface LogLine {
  readonly at: number
  readonly text: string
}

const beatMs = 30_000
const beatsMax = 100

/** The end of the previous run, the current run, a line every half minute, and its end. */
export function logLines(part: SimulatedContainer, now: number): readonly LogLine[] {
  const lines: LogLine[] = []
  const said = (at: number, text: string) => lines.push({ at, text: `simulated: ${text}` })
  if (part.previous !== undefined) {
    said(part.previous.finishedAt, `'${part.name}' ended with code ${part.previous.exitCode}`)
  }
  const startedAt = part.startedAt
  if (startedAt === undefined || startedAt > now) return lines
  said(startedAt, `'${part.name}' started from ${part.image}; nothing really runs`)
  for (const text of part.script.lines) lines.push({ at: startedAt, text })
  const until = part.ended?.finishedAt ?? now
  const beats = Math.floor((until - startedAt) / beatMs)
  for (let beat = Math.max(1, beats - beatsMax + 1); beat <= beats; beat++) {
    said(startedAt + beat * beatMs, `'${part.name}' has been up for ${(beat * beatMs) / 1000} s`)
  }
  if (part.ended !== undefined) {
    said(part.ended.finishedAt, `'${part.name}' ended with code ${part.ended.exitCode}`)
  }
  return lines
}
