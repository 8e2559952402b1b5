/**
 * The installed namespaces with their types and versions, at the root and in a subscription. Registration is
 * a formality here: every namespace is registered in every subscription from the start.
 */

import Type from 'typebox'
import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import { asResource, pageOfItems } from '#plane/declare/answers.ts'
import { type ComputedType, defineComputed } from '#plane/declare/computed.ts'
import type { RouteDescription } from '#plane/plane.ts'
import { unknownNamespace } from '#plane/unknown-namespace.ts'
import { namespacesOf, type ProviderListDependencies, typesOf } from '../../domain/namespaces.ts'
import { pageOfArray } from '../../domain/page-of-array.ts'
import { managerVersions } from '../../published-versions.ts'

export function providerLists({
  describe,
  locations,
}: ProviderListDependencies): readonly ComputedType[] {
  // The table never changes after the start, and walking it all for every request would cost.
  let routes: readonly RouteDescription[] | undefined
  const deps: ProviderListDependencies = {
    describe: () => {
      routes ??= describe()
      return routes
    },
    locations,
  }
  return [
    list('Resources/providers', deps, {}),
    list('Resources/subscriptions/providers', deps, {
      register: registration(
        'Registers a namespace in a subscription; it is registered already.',
        deps,
      ),
      unregister: registration(
        'Answers as if unregistering; a namespace always stays registered.',
        deps,
      ),
      resourceTypes: {
        method: 'GET',
        description: 'The types of a namespace',
        answer: pageOfItems(typeAnswer),
        run: async ({ id }) => ({ status: 200, body: { value: find(id, deps).resourceTypes } }),
      },
      providerPermissions: {
        method: 'GET',
        description:
          'Applications of a namespace that hold roles: none, since services run inside the installation',
        answer: pageOfItems(Type.Object({ applicationId: Type.String() })),
        run: async ({ id }) => {
          find(id, deps)
          return { status: 200, body: { value: [] } }
        },
      },
    }),
  ]
}

const typeAnswer = Type.Object(
  { resourceType: Type.String(), apiVersions: Type.Array(Type.String()) },
  { additionalProperties: true },
)

const answer = Type.Object({
  namespace: Type.String(),
  registrationPolicy: Type.String(),
  registrationState: Type.String(),
  resourceTypes: Type.Array(typeAnswer),
})

function list(
  type: string,
  deps: ProviderListDependencies,
  actions: Readonly<Record<string, Action<unknown>>>,
): ComputedType {
  return defineComputed({
    type,
    description: 'The installed namespaces, their types and versions.',
    scope: 'implied',
    apiVersions: managerVersions,
    answer: added(answer),
    source: {
      get: ({ id }) => Promise.resolve(find(id, deps)),
      list(context) {
        const { items, ...rest } = pageOfArray(namespacesOf(deps), context)
        return Promise.resolve({
          items: items.map((one) => show(context.parent, one, deps)),
          ...rest,
        })
      },
    },
    actions,
  })
}

function registration(description: string, deps: ProviderListDependencies): Action<unknown> {
  return {
    method: 'POST',
    description,
    answer: added(asResource(answer)),
    run: ({ id }) => Promise.resolve({ status: 200, body: find(id, deps) }),
  }
}

/** The namespace an id ends in, shown. Throws the refusal of one that is not installed. */
function find(id: ResourceId, deps: ProviderListDependencies): ReturnType<typeof show> {
  const installed = namespacesOf(deps)
  const named = (name: string): string | undefined =>
    installed.find((one) => one.toLowerCase() === name.toLowerCase())
  const namespace = named(nameOf(id))
  if (namespace === undefined) {
    const [word = ''] = installed[0]?.split('.') ?? []
    throw unknownNamespace(nameOf(id), word, (name) => named(name) !== undefined)
  }
  const path = id.text.toLowerCase().lastIndexOf('/providers/')
  return show({ text: path === 0 ? '/' : id.text.slice(0, path) }, namespace, deps)
}

function show(parent: Pick<ResourceId, 'text'>, namespace: string, deps: ProviderListDependencies) {
  return {
    id: `${parent.text === '/' ? '' : parent.text}/providers/${namespace}`,
    namespace,
    registrationPolicy: 'RegistrationFree',
    registrationState: 'Registered',
    resourceTypes: typesOf(namespace, deps),
  }
}
