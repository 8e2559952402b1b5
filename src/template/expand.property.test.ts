/**
 * Laws of expansion: loops create what they count, the order respects the graph, and the result is always the same.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../tests/property.ts'
import { inOrder } from './graph.ts'
import { noAnswers, planOf, shown, template } from './testing/context.ts'

const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01' }

test('loops make as many as they count, in resources, properties, variables and outputs', () => {
  const counts = fc.tuple(fc.nat(20), fc.nat(6), fc.nat(6), fc.nat(6))
  fc.assert(
    fc.property(
      counts,
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      ([n, a, b, c], serial, size) => {
        const batchSize = Math.max(1, Math.min(size, n))
        const plan = planOf(
          template({
            variables: { copy: [{ name: 'list', count: c, input: "[copyIndex('list')]" }] },
            resources: [
              {
                ...vault,
                name: "[concat('r', copyIndex())]",
                copy: { name: 'loop', count: n, mode: serial ? 'serial' : 'parallel', batchSize },
                properties: {
                  copy: [
                    {
                      name: 'xs',
                      count: a,
                      input: { copy: [{ name: 'ys', count: b, input: "[copyIndex('ys')]" }] },
                    },
                  ],
                },
              },
            ],
            outputs: { list: { type: 'array', value: "[variables('list')]" } },
          }),
        )
        assert.equal(plan.nodes.length, n)
        assert.equal(new Set(plan.nodes.map((node) => node.key)).size, n)
        for (const [at, node] of plan.nodes.entries()) {
          assert.equal(node.copy?.index, at)
          const before = serial && at >= batchSize ? batchSize : 0
          assert.equal(node.dependsOn.length, before)
          const { body } = node.evaluate(noAnswers)
          const { xs } = body['properties'] as unknown as {
            xs: readonly { ys: readonly number[] }[]
          }
          assert.equal(xs.length, a)
          for (const x of xs)
            assert.deepEqual(
              x.ys,
              Array.from({ length: b }, (_, y) => y),
            )
        }
        const list = plan.outputs[0]?.evaluate(noAnswers)?.value
        assert.deepEqual(
          list,
          Array.from({ length: c }, (_, index) => index),
        )
      },
    ),
    { numRuns: 60 },
  )
})

/** Edges go from later names to earlier ones, so there is no cycle. The order of declaration is shuffled. */
const graphs = fc
  .array(fc.array(fc.nat(11), { maxLength: 4 }), { minLength: 1, maxLength: 12 })
  .chain((edges) =>
    fc.record({
      edges: fc.constant(edges),
      order: fc.shuffledSubarray(
        edges.map((_, at) => at),
        { minLength: edges.length, maxLength: edges.length },
      ),
      late: fc.boolean(),
    }),
  )

test('every node stands after those it depends on, and two expansions are the same plan', () => {
  fc.assert(
    fc.property(graphs, ({ edges, order, late }) => {
      const resources = order.map((at) => {
        const before = (edges[at] ?? []).filter((to) => to < at).map((to) => `r${to}`)
        if (!late) return { ...vault, name: `r${at}`, dependsOn: before }
        const properties = Object.fromEntries(
          before.map((name) => [name, `[reference('${name}')]`]),
        )
        return { ...vault, name: `r${at}`, properties }
      })
      const plan = planOf(template({ resources }))
      const seen = new Set<string>()
      for (const node of plan.nodes) {
        for (const key of node.dependsOn)
          assert.ok(seen.has(key), `${node.name} stands before ${key}`)
        seen.add(node.key)
      }
      assert.equal(seen.size, edges.length)
      assert.equal(shown(plan), shown(planOf(template({ resources }))))
    }),
  )
})

test('an order is found exactly when there is no circle', () => {
  const any = fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(any, (edges) => {
      const graph = new Map(
        edges.map((to, at) => [
          `${at}`,
          new Set(to.filter((one) => one < edges.length).map(String)),
        ]),
      )
      const { keys, circles } = inOrder(graph)
      assert.deepEqual([...keys].sort(), [...graph.keys()].sort())
      for (const circle of circles) {
        assert.equal(circle[0], circle.at(-1))
        for (const [at, key] of circle.slice(1).entries()) {
          assert.ok(graph.get(circle[at] ?? '')?.has(key))
        }
      }
      const stands = keys.every((key, at) =>
        [...(graph.get(key) ?? [])].every((before) => keys.indexOf(before) < at),
      )
      assert.equal(stands, circles.length === 0)
    }),
  )
})
