/** Reads a folder continuously until it is stopped, and counts how often it was missing or incomplete. */

import { readdirSync } from 'node:fs'

const [, , folder = '', whole = '0'] = process.argv
const seen = { looks: 0, absent: 0, half: 0 }

function look(): void {
  // Pauses now and then, to notice a stop.
  for (let n = 0; n < 500; n++) {
    seen.looks++
    try {
      if (readdirSync(folder).length !== Number(whole)) seen.half++
    } catch {
      // Missing at this moment.
      seen.absent++
    }
  }
  setImmediate(look)
}

process.on('message', () => {
  process.send?.(seen, undefined, undefined, () => process.exit(0))
})
look()
process.send?.('begun')
