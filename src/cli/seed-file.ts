/** Reads the seed of the first start from a YAML or JSON file. */

import { readFileSync } from 'node:fs'
import { readSeed, type Seed } from '#client/seed.ts'
import { LocalProblem } from './command.ts'

export async function readSeedFile(path: string): Promise<Seed> {
  // Loaded here, so that a start without a seed does not load it.
  const { parse } = await import('yaml')
  try {
    return readSeed(parse(readFileSync(path, 'utf8')), path)
  } catch (error) {
    // Converts errors of the file system and the parser.
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem('SeedRefused', `The seed cannot be read: ${reason}`, { cause: error })
  }
}
