/** What a thread keeps of the plans it created. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serialize } from 'node:v8'
import { Evaluations } from './evaluations.ts'
import type { ShownPlan } from './questions.ts'
import { heldBy, remotePlan } from './remote-plan.ts'
import type { TemplateThreads, Thread } from './template-threads.ts'

const count = 800

const loopOfMany = {
  resources: [
    {
      type: 'A.B/things',
      apiVersion: '2020-01-01',
      name: "[format('n{0}', copyIndex())]",
      copy: { name: 'loop', count },
      properties: { text: "[format('{0}', copyIndex())]" },
    },
  ],
}

function expansionOf(plan: number, content: object = loopOfMany) {
  const template = { $schema: 'deploymentTemplate.json#', contentVersion: '1.0.0.0', ...content }
  return {
    kind: 'expand' as const,
    plan,
    template: JSON.stringify(template),
    parameters: '{}',
    context: {
      scope: 'resourceGroup' as const,
      tenant: {},
      resourceGroup: { id: '/subscriptions/s/resourceGroups/g' },
      subscription: { id: '/subscriptions/s', subscriptionId: 's' },
      deploymentName: 'd',
      deployer: {},
      environment: {},
      now: 0,
      run: 'run',
      offers: {},
      takesAnyType: true,
      roles: {},
    },
  }
}

test('short templates that make many resources do not fill the memory of a thread', () => {
  const evaluations = new Evaluations(() => 0)
  const keys: string[] = []
  for (let plan = 1; plan <= 40; plan++) {
    const made = evaluations.answer(expansionOf(plan))
    assert.ok('ok' in made && made.ok, JSON.stringify(made).slice(0, 300))
    const { nodes } = made.value as ShownPlan
    assert.equal(nodes.length, count)
    keys.push(nodes[0]?.key ?? '')
  }
  const kindOf = (plan: number, isMadeAgain = false): unknown => {
    const late = { kind: 'late', plan, of: { node: keys[plan - 1] ?? '' } } as const
    const again = isMadeAgain ? { again: expansionOf(plan) } : {}
    const answer = evaluations.answer({ ...late, answers: new Map(), ...again })
    return 'kind' in answer ? answer.kind : answer
  }
  assert.equal(kindOf(1), 'gone')
  assert.equal(kindOf(1, true), 'body')
  assert.equal(kindOf(1), 'body')
  assert.equal(kindOf(40), 'body')
})

test('what providers offer is sent once, and a plan that was released is made again', () => {
  const evaluations = new Evaluations(() => 0)
  const { context, ...first } = expansionOf(1)
  const template = {
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources: [],
    outputs: { offered: { type: 'string', value: "[providers('A.B').namespace]" } },
  }
  const { offers: _, ...later } = context
  const offers = { 'a.b': { namespace: 'A.B', resourceTypes: [] } }
  const expansion = { ...first, template: JSON.stringify(template) }
  const sent = [{ ...context, offers }, later].map((each, at) => ({
    ...expansion,
    plan: at + 1,
    context: { ...each, takesAnyType: false },
  }))
  const offered = (plan: number, again = sent[plan - 1]): unknown => {
    const late = { kind: 'late', plan, of: { output: 0 }, answers: new Map() } as const
    const answer = evaluations.answer(again === undefined ? late : { ...late, again })
    return 'kind' in answer && answer.kind === 'output' ? answer.value?.value : answer
  }
  for (const one of sent) evaluations.answer(one)
  assert.deepEqual([offered(1), offered(2)], ['A.B', 'A.B'])
  evaluations.release(2)
  const late = { kind: 'late', plan: 2, of: { output: 0 }, answers: new Map() } as const
  assert.deepEqual(evaluations.answer(late), { kind: 'gone' })
  assert.equal(offered(2), 'A.B')
})

test('a template in which all waits for all is sent in the space of its nodes', () => {
  const loops = Array.from({ length: 8 }, (_, at) => `l${at}`)
  const name = (loop: string): string => `${loop}-${'x'.repeat(200)}/${'x'.repeat(200)}`
  const resources = Object.fromEntries(
    loops.map((loop, at) => [
      loop,
      {
        type: 'A.B/things/items',
        apiVersion: '2020-01-01',
        existing: true,
        name: `[format('${name(loop)}{0}', copyIndex())]`,
        copy: { name: loop, count: 100 },
        dependsOn: loops.slice(0, at),
      },
    ]),
  )
  const expansion = expansionOf(1, { languageVersion: '2.0', resources })
  const made = new Evaluations(() => 0).answer(expansion)
  assert.ok('ok' in made && made.ok, JSON.stringify(made).slice(0, 300))
  assert.ok(serialize(made).length < 4 * 1024 * 1024)
  const threads = {} as TemplateThreads
  const by = { principalId: 'p', accepted: true }
  const sent = { plan: made.value as ShownPlan, thread: {} as Thread }
  const { nodes } = remotePlan(threads, expansion, by, sent)
  const keys = nodes.map(({ key }) => key)
  assert.ok(heldBy(nodes) > 280_000)
  for (const { name: own, dependsOn } of nodes) {
    const before = keys.slice(0, Number(own[1]) * 100)
    assert.deepEqual([...dependsOn].sort(), before.sort())
  }
})
