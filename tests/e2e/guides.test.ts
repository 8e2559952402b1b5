/**
 * Three guides, pasted unchanged, each against its own server: the first one, as programs that a newcomer starts, containers,
 * and rights that are given on. `guides.wide.test.ts` pastes the others.
 */

import { describe, test } from 'node:test'
import { alone, pasteGuide, usualGuides } from './pasted-guides.ts'

describe('pasted on SQLite', () => {
  for (const guide of usualGuides) {
    test(guide, { timeout: 300_000 }, (t) => pasteGuide(t, alone, guide))
  }
})
