/**
 * Published templates deploy with generic resources, change nothing the second time, and can be deleted. A sample
 * in the ordinary suite, all of them in the long one. Those that fail are listed with the cause.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLong } from '../long.ts'
import { corpusFolder, readCorpus } from './corpus.ts'
import { type Fate, fateOf, startCorpusPlane, twice } from './deploy.ts'

/** Of a thousand templates that are not excluded, how many complete all steps. May only rise. */
const doneFloors = { all: 960, sample: 930 }
/** Of a thousand, how many pass validation and fail for a reason that was knowable. May only fall. */
const knowableCeiling = 1
/** Every so many templates are in the sample. */
const sampleEvery = 40
/** Templates deployed at once. Most of their time is spent waiting for deletions. */
const lanes = 6

/** Failures that no installation could avoid, by their message; never by names of files. */
const ownFaults: readonly (readonly [RegExp, string])[] = [
  [/The content link '.*' cannot be followed/, 'it links to what the corpus does not have'],
  [/^InvalidTemplate:/, 'its arguments do not fit, or it is broken by itself'],
]

test('published templates deploy, change nothing the second time, and are deleted', async (t) => {
  const folder = corpusFolder()
  if (folder === undefined) {
    const how = 'name the folder of published templates in ARMATURE_TEST_CORPUS'
    process.stderr.write(`SKIPPED: ${t.name}: ${how}\n`)
    t.skip(how)
    return
  }
  const every = isLong ? 1 : sampleEvery
  const doneFloor = isLong ? doneFloors.all : doneFloors.sample
  const queue = readCorpus(folder).filter((_, at) => at % every === 0)
  const fates: Fate[] = []
  await using started = await startCorpusPlane(folder)
  const lane = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const fate = await fateOf(started, folder, next)
      if (fate !== undefined) fates.push(fate)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const done = fates.filter(({ step }) => step === 'done')
  const others = fates.filter(({ step }) => step !== 'done')
  const apart = others.filter((one) => apartBecause(one) !== undefined)
  const failed = others.filter((one) => apartBecause(one) === undefined)
  t.diagnostic(
    `${done.length} of ${fates.length} come all the way; ${apart.length} are counted apart`,
  )
  for (const [cause, all] of Map.groupBy(apart, apartBecause)) {
    t.diagnostic(`${all.length}: ${cause}`)
    const each = all.map((one) => `  ${one.path}: ${one.cause}`).join('\n')
    if (process.env['ARMATURE_TEST_CORPUS_APART'] !== undefined) t.diagnostic(each)
  }
  const listed = failed.map(({ path, step, cause }) => `  ${path}: ${step}: ${cause}`).join('\n')
  t.diagnostic(`the others:\n${listed}`)
  const knowable = fates.filter(({ knowable: why }) => why !== undefined)
  const share = (1000 * done.length) / (done.length + failed.length)
  const knowableShare = (1000 * knowable.length) / fates.length
  const missed = knowable.map(({ path, knowable: why }) => `  ${path}: ${why}`).join('\n')
  t.diagnostic(`${knowable.length} pass validation and fail for what was knowable:\n${missed}`)
  assert.ok(knowableShare <= knowableCeiling, `${knowableShare.toFixed(0)} of 1000\n${missed}`)
  assert.ok(share >= doneFloor, `${share.toFixed(0)} of 1000, not ${doneFloor}\n${listed}`)
})

/** A fault that appears only during the deployment is ours to find, except for values that are new each time. */
function apartBecause({ step, cause, text }: Fate): string | undefined {
  if (step === 'validate') return ownFaults.find(([pattern]) => pattern.test(cause))?.[1]
  if (step !== 'what-if') return undefined
  if (cause.startsWith(twice)) return 'it writes a resource twice, each time otherwise'
  return /\b(newGuid|utcNow)\(/i.test(text) ? 'it makes new values each time' : undefined
}
