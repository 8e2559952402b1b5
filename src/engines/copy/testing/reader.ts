/** Looks at a folder without a pause until it is told to stop, and says how often it was absent or not whole. */

import { readdirSync } from 'node:fs'

const [, , folder = '', whole = '0'] = process.argv
const seen = { looks: 0, absent: 0, half: 0 }

function look(): void {
  // Breathes now and then: to hear that it is to stop.
  for (let n = 0; n < 500; n++) {
    seen.looks++
    try {
      if (readdirSync(folder).length !== Number(whole)) seen.half++
    } catch {
      // Not there, in this instant.
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
