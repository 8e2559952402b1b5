/** A seed of the first start, from a file of YAML or JSON. */

import { readFileSync } from 'node:fs'
import { readSeed, type Seed } from '#client/seed.ts'
import { LocalProblem } from './command.ts'

export async function readSeedFile(path: string): Promise<Seed> {
  // Not on the way of a start without one.
  const { parse } = await import('yaml')
  try {
    return readSeed(parse(readFileSync(path, 'utf8')), path)
  } catch (error) {
    // The adapter to the file system and to the parser.
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem('SeedRefused', `The seed cannot be read: ${reason}`, { cause: error })
  }
}
