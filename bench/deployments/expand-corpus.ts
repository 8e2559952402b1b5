/**
 * Reads and expands the published templates of a folder, `expand-corpus.ts {folder} {rounds}`, and prints the cost.
 * A process of its own, so that its memory is that of this work alone. The first round warms up and is not counted.
 */

import { environmentOf } from '../../src/template/environment.ts'
import { templateLanguage } from '../../src/template/language.ts'
import { expandAll } from '../../src/template/nested.ts'
import type { ExpansionContext } from '../../src/template/plan.ts'
import { contextOf } from '../../src/template/testing/answering-scope.ts'
import { argumentsOf, type CorpusTemplate, readCorpus } from '../../tests/corpus/corpus.ts'

const environment = environmentOf({ name: 'Test', url: 'http://test.example', tenantId: 'tenant' })

function contextFor({ path, text }: CorpusTemplate): ExpansionContext {
  const read = templateLanguage.parseTemplate(text)
  const scope = (read.ok ? read.value : read.partial)?.scope
  const templateLink = { uri: `https://templates.example/${path}` }
  return { ...contextOf(scope), location: 'local', templateLink, environment }
}

const [, , folder = '', rounds = '1'] = process.argv
const all = readCorpus(folder).map((one) => ({
  text: one.text,
  given: { contentVersion: '1', parameters: { ...argumentsOf(folder, one).values } as never },
  context: contextFor(one),
}))
const rates: number[] = []
let slowest = 0
let expanded = 0
for (let round = 0; round <= Number(rounds); round++) {
  expanded = 0
  const from = performance.now()
  for (const { text, given, context } of all) {
    const begun = performance.now()
    if (expandAll(text, given, context).ok) expanded++
    if (round > 0) slowest = Math.max(slowest, performance.now() - begun)
  }
  if (round > 0) rates.push(all.length / ((performance.now() - from) / 1000))
}
const memory = process.resourceUsage().maxRSS / 1024
process.stdout.write(JSON.stringify({ templates: all.length, expanded, rates, slowest, memory }))
