/** Deployments of templates: expansion alone, and 800 operations of an API beside the same PUTs one by one. */

import { measureCorpus, measureDeployments, measureExpansion } from '../deployments/measure.ts'
import type { Scenario } from '../scenario.ts'

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Deployments of templates',
  about:
    'A template of nearly the largest size, read and expanded, then the published templates of ARMATURE_TEST_CORPUS; then 800 operation definitions on one server, by ' +
    'a deployment and by one PUT after the other, in turns; ratios are to the PUTs, more is better.',
  async measure(name, measuring) {
    const expansion = measureExpansion(name, measuring)
    const folder = process.env['ARMATURE_TEST_CORPUS']
    const corpus = folder === undefined ? [] : await measureCorpus(name, folder, measuring)
    const deployed = await measureDeployments(name, measuring)
    return {
      rows: [...expansion, ...corpus, ...deployed],
      skipped:
        folder === undefined
          ? ['published templates: name their folder in ARMATURE_TEST_CORPUS']
          : [],
      notes: [
        {
          contestant: 'one PUT after the other',
          note: 'one client, one connection that stays open; each is checked, authorized and on the disk before the next',
        },
        {
          contestant: 'deployment',
          note: 'from the PUT, which rehearses everything first, until a GET shows Succeeded, looked for every 5 ms; every resource is checked, authorized and on the disk',
        },
        {
          contestant: 'Armature',
          note: 'in one process: the text read, every expression evaluated, the graph put in order',
        },
      ],
    }
  },
}
