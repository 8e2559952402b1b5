/** Measures expressions: typical ones, parsed and evaluated in this process, each kind by itself. */

import { evaluate } from '../../src/template/evaluate.ts'
import { type Expression, parseExpression } from '../../src/template/expression.ts'
import { ExpressionScope } from '../../src/template/expression-scope.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import type { FigureRow } from '../harness/results.ts'

const contestant = 'Armature'
const subscriptionId = '11111111-2222-4333-8444-555555555555'
const millisecondsPerRound = 300

/** What templates are made of, the most frequent kinds first. */
const kinds: Readonly<Record<string, readonly string[]>> = {
  'parameters and variables': [
    "parameters('name')",
    "variables('settings').network.prefix",
    "parameters('tags')[variables('key')]",
  ],
  'format and concat': [
    "format('{0}-{1}', parameters('name'), variables('key'))",
    "format('{0}/{1}-{2:D3}', parameters('name'), copyIndex(), copyIndex(1))",
    "concat(parameters('name'), '-', string(copyIndex()))",
    "toLower(replace(parameters('name'), '-', ''))",
  ],
  'resource ids': [
    "resourceId('Vendor.Network/virtualNetworks/subnets', parameters('name'), 'default')",
    "extensionResourceId(resourceGroup().id, 'Vendor.Authorization/roleAssignments', guid(resourceGroup().id, parameters('name')))",
    "subscriptionResourceId('Vendor.Authorization/roleDefinitions', variables('role'))",
  ],
  conditions: [
    "if(equals(parameters('name'), 'other'), variables('role'), null())",
    "and(not(empty(parameters('tags'))), greater(length(parameters('list')), 2))",
    "coalesce(tryGet(parameters('tags'), 'none'), 'standard')",
  ],
  'unique names': ["uniqueString(resourceGroup().id, parameters('name'))"],
  'lambdas over ten elements': [
    "map(range(0, 10), lambda('i', format('{0}-{1}', parameters('name'), lambdaVariables('i'))))",
    "filter(parameters('list'), lambda('x', greater(lambdaVariables('x'), 2)))",
  ],
}

export function measureExpressions(name: string, measuring: Measuring): readonly FigureRow[] {
  const scope = new ExpressionScope(place)
  return Object.entries(kinds).flatMap(([kind, texts]) => {
    measuring.progress(`${name}: ${kind}`)
    const read = texts.map((text) => parseExpression(text))
    const rounds = Array.from({ length: measuring.rounds })
    // A warm-up round that is not counted.
    perSecond(() => evaluateAll(read, scope), texts.length)
    perSecond(() => texts.forEach(parseExpression), texts.length)
    const evaluated = rounds.map(() => perSecond(() => evaluateAll(read, scope), texts.length))
    const whole = rounds.map(() => perSecond(() => readAndEvaluate(texts, scope), texts.length))
    return [
      figureRow({ figure: `${kind}: evaluated per second`, contestant, values: evaluated }),
      figureRow({ figure: `${kind}: read and evaluated per second`, contestant, values: whole }),
    ]
  })
}

function evaluateAll(expressions: readonly Expression[], scope: ExpressionScope): void {
  for (const expression of expressions) evaluate(expression, scope)
}

function readAndEvaluate(texts: readonly string[], scope: ExpressionScope): void {
  for (const text of texts) evaluate(parseExpression(text), scope)
}

function perSecond(work: () => void, count: number): number {
  const from = performance.now()
  let done = 0
  while (performance.now() - from < millisecondsPerRound) {
    for (let turn = 0; turn < 100; turn += 1) work()
    done += 100 * count
  }
  return done / ((performance.now() - from) / 1000)
}

const place = {
  context: {
    scope: 'resourceGroup',
    tenant: { tenantId: 'bench' },
    subscription: { id: `/subscriptions/${subscriptionId}`, subscriptionId },
    resourceGroup: {
      id: `/subscriptions/${subscriptionId}/resourceGroups/bench`,
      name: 'bench',
      location: 'local',
    },
    deploymentName: 'bench',
    deployer: { objectId: 'bench' },
    environment: { name: 'bench' },
    now: 0,
    uuid: () => '00000000-0000-4000-8000-000000000000',
    zones: () => [],
  },
  parameters: {
    name: 'shop-web-front',
    tags: { owner: 'someone', stage: 'test' },
    list: [5, 1, 4, 2, 3],
  },
  variables: {
    key: 'stage',
    role: 'acdd72a7-3385-48ef-bd42-f606fba81ae7',
    settings: { network: { prefix: '10.0.0.0/16' } },
  },
  copyIndex: 7,
} as const
