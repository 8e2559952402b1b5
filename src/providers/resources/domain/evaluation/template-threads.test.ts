/** The threads that evaluate templates: their limits, whose allowance pays, and plans that outlive their thread. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { TemplateRefusal } from '#template/plan.ts'
import { defaultAllowance } from './allowances.ts'
import type { ExpandQuestion } from './questions.ts'
import { remotePlan } from './remote-plan.ts'
import { defaultThreadLimits, TemplateThreads } from './template-threads.ts'

/** A clock that only the test moves. */
class TestClock {
  at = 0
  now(): number {
    return this.at
  }
}

const endless = `[length(map(range(0,10000),lambda('i',length(map(range(0,10000),lambda('j',add(1,1)))))))]`
/** Creates four million numbers. */
const large = "[map(range(0,4000),lambda('i',range(0,1000)))]"

function question(plan: number, value: string): ExpandQuestion {
  const template = {
    $schema: 'deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { drawn: { type: 'string', defaultValue: '[newGuid()]' } },
    resources: [],
    outputs: {
      value: { type: 'object', value: { made: value } },
      drawn: { type: 'string', value: "[parameters('drawn')]" },
      late: { type: 'string', value: "[reference('/a/b', '2020-01-01').name]" },
    },
  }
  return {
    kind: 'expand',
    plan,
    template: JSON.stringify(template),
    parameters: '{}',
    context: {
      scope: 'resourceGroup',
      tenant: {},
      resourceGroup: { id: '/subscriptions/s/resourceGroups/g' },
      subscription: { id: '/subscriptions/s', subscriptionId: 's' },
      deploymentName: 'd',
      deployer: {},
      environment: {},
      now: 0,
      run: 'run',
      offers: {},
      takesAnyType: false,
      roles: {},
    },
  }
}

const payer = { principalId: 'p', accepted: false }

test('what takes longer than a question may is refused; the next one finds a thread', async () => {
  const threads = new TemplateThreads(new TestClock(), { ...defaultThreadLimits, seconds: 0.1 })
  // The thread is started by a question that ends at once.
  await threads.ask<'secure'>({ kind: 'secure', template: '{}' }, payer).catch(() => {})
  await assert.rejects(
    threads.ask<'expand'>(question(1, endless), payer),
    (error) => error instanceof TemplateRefusal && /more than the 0.1 seconds/.test(error.message),
  )
  const patient = new TemplateThreads(new TestClock())
  const { answer } = await patient.ask<'expand'>(question(2, '[add(1,2)]'), payer)
  assert.ok(answer.ok)
})

test('what would take more memory here than in its thread is refused', async () => {
  const threads = new TemplateThreads(new TestClock())
  const asked = question(threads.nextPlan(), 'x')
  const template = { ...JSON.parse(asked.template), parameters: { list: { type: 'array' } } }
  const expand = (name: string) => {
    const list = Array.from({ length: 2000 }, () => ({ [name]: 0 }))
    const parameters = JSON.stringify({ list: { value: list } })
    const { drawn: _drawn, ...outputs } = template.outputs
    const text = JSON.stringify({ ...template, outputs })
    return threads.ask<'expand'>({ ...asked, template: text, parameters }, payer)
  }
  await assert.rejects(
    expand('1000'),
    (error) => error instanceof TemplateRefusal && /named by numbers/.test(error.message),
  )
  assert.ok((await expand('a1000')).answer.ok)
  assert.ok((await expand('10')).answer.ok)
})

test('what takes more memory than a thread has is refused; plans of that thread are made again', async () => {
  const limits = { ...defaultThreadLimits, threadsMax: 1, heapMegabytes: 32 }
  const threads = new TemplateThreads(new TestClock(), limits)
  const asked = question(threads.nextPlan(), 'x')
  const { answer, thread } = await threads.ask<'expand'>(asked, payer)
  assert.ok(answer.ok)
  const plan = remotePlan(threads, asked, payer, { plan: answer.value, thread })
  const [, drawn, late] = plan.outputs
  const before = await drawn?.late(new Map())
  await assert.rejects(
    threads.ask<'expand'>(question(threads.nextPlan(), large), payer),
    (error) => error instanceof TemplateRefusal && /32 MB of memory/.test(error.message),
  )
  assert.ok(thread.isGone)
  const [after, waits] = await Promise.all([drawn?.late(new Map()), late?.late(new Map())])
  assert.deepEqual(after, before)
  assert.ok(waits !== undefined && 'needs' in waits)
  const [need] = waits.needs
  const answers = new Map([
    [need?.key ?? '', { value: { properties: { name: 'n' } }, secure: false }],
  ])
  const known = await late?.late(answers)
  assert.ok(known !== undefined && 'value' in known)
})

test('who has used the allowance up is refused with the time to wait, and others are not', async () => {
  const clock = new TestClock()
  // Every question takes a second of this clock.
  clock.now = () => {
    clock.at += 500
    return clock.at
  }
  const rule = { ...defaultAllowance, full: 1_000, refill: 0.001 }
  const threads = new TemplateThreads(clock, defaultThreadLimits, rule)
  const ask = (principalId: string) =>
    threads.ask<'expand'>(question(threads.nextPlan(), '[add(1,2)]'), { ...payer, principalId })
  const refused = async (): Promise<ApiError> => {
    for (let tries = 0; tries < 20; tries++) {
      try {
        await ask('p')
      } catch (error) {
        assert.ok(error instanceof ApiError)
        return error
      }
    }
    throw new Error('never refused')
  }
  const error = await refused()
  assert.equal(error.status, 429)
  assert.ok(Number(error.extra.headers?.['Retry-After']) > 0)
  assert.ok((await ask('q')).answer.ok)
})

test('who is not to be refused is counted all the same, and never waits', async () => {
  const clock = new TestClock()
  clock.now = () => {
    clock.at += 500
    return clock.at
  }
  const isUnrefused = (principalId: string): boolean => principalId === 'p'
  const rule = { ...defaultAllowance, full: 1_000, refill: 0.001, isUnrefused }
  const threads = new TemplateThreads(clock, defaultThreadLimits, rule)
  for (let round = 0; round < 5; round++) {
    const plan = question(threads.nextPlan(), '[add(1,2)]')
    assert.ok((await threads.ask<'expand'>(plan, { ...payer, principalId: 'p' })).answer.ok)
  }
})

test('nodes are answered ahead of their question, each as if it were asked by itself', async () => {
  const threads = new TemplateThreads(new TestClock())
  const asked = question(threads.nextPlan(), 'x')
  const count = 200
  const value = "[if(equals(copyIndex(), 60), reference('/a/b', '2020-01-01').name, copyIndex())]"
  const resource = {
    type: 'Vendor.Sample/things',
    apiVersion: '2020-01-01',
    name: "[format('n{0}', copyIndex())]",
    copy: { name: 'c', count },
    properties: { value },
  }
  const template = { ...JSON.parse(asked.template), resources: [resource] }
  const whole = { ...asked, template: JSON.stringify(template) }
  const { answer, thread } = await threads.ask<'expand'>(whole, payer)
  assert.ok(answer.ok)
  let questions = 0
  const counting = {
    ask(...given: Parameters<TemplateThreads['ask']>) {
      questions++
      return threads.ask(...given)
    },
  } as unknown as TemplateThreads
  const { nodes } = remotePlan(counting, whole, payer, { plan: answer.value, thread })
  const bodyOf = async (at: number): Promise<unknown> => {
    const result = await nodes[at]?.late(new Map())
    return result !== undefined && 'value' in result ? result.value.body : result
  }
  const body = (of: number): object => ({ properties: { value: of } })
  for (let at = 0; at < count; at++) {
    if (at === 60) assert.ok('needs' in Object(await bodyOf(at)))
    else assert.partialDeepStrictEqual(await bodyOf(at), body(at))
  }
  assert.ok(questions < count, `${questions} questions`)
  // An answer that was given is requested again.
  for (const at of [5, 5, 199, 199, 0, 0]) {
    assert.partialDeepStrictEqual(await bodyOf(at), body(at))
  }
})

test('each thread learns what providers offer, and learns it again when it is another', async () => {
  const threads = new TemplateThreads(new TestClock(), { ...defaultThreadLimits, threadsMax: 2 })
  const offersOf = (namespace: string) => ({ 'a.b': { namespace, resourceTypes: [] } })
  const [one, two] = [offersOf('A.B'), offersOf('a.B')]
  const offered = async (offers: typeof one): Promise<unknown> => {
    const made = question(threads.nextPlan(), "[providers('A.B').namespace]")
    const expansion = { ...made, context: { ...made.context, offers } }
    const { answer, thread } = await threads.ask<'expand'>(expansion, payer)
    assert.ok(answer.ok)
    const plan = remotePlan(threads, expansion, payer, { plan: answer.value, thread })
    const value = await plan.outputs[0]?.late(new Map())
    // What is asked of a released plan makes it again.
    plan.release()
    assert.deepEqual(await plan.outputs[0]?.late(new Map()), value)
    return value && 'value' in value ? value.value?.value : value
  }
  // At once, so that both threads have one.
  const same = await Promise.all([one, one, one, one].map(offered))
  assert.deepEqual(same, Array(4).fill({ made: 'A.B' }))
  assert.deepEqual(await offered(two), { made: 'a.B' })
  assert.deepEqual(await offered(one), { made: 'A.B' })
})

test('at the end of the process nothing is evaluated any more, whatever waits', async () => {
  const threads = new TemplateThreads(new TestClock(), { ...defaultThreadLimits, threadsMax: 1 })
  const answers: unknown[] = []
  const begin = (value: string): void => {
    threads.ask(question(threads.nextPlan(), value), { ...payer, accepted: true }).then(
      (answer) => answers.push(answer),
      (error: unknown) => answers.push(error),
    )
  }
  begin(endless)
  begin('[add(1, 1)]')
  await new Promise((resolve) => setTimeout(resolve, 50))
  await threads.close()
  begin('[add(1, 1)]')
  await new Promise((resolve) => setTimeout(resolve, 50))
  assert.deepEqual(answers, [])
  // Neither a thread nor a limit of time keeps the process alive.
  assert.ok(!process.getActiveResourcesInfo().includes('MessagePort'))
})
