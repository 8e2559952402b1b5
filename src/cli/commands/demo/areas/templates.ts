/** The demo of deployment templates: an API with its operations, deployed, changed, previewed and read back. */

import { textOf } from '#client/answer.ts'
import { listOf, propertiesOf } from '#client/resource.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { extensionPath } from '../../../resource-path.ts'
import type { DemoArea, DemoCall } from '../area.ts'
import type { DemoSetup } from '../setup.ts'

const version = '2025-03-01'
/** The operation has a different shape in each of these versions. */
const versions = ['2016-07-07', '2019-12-01', '2024-05-01'] as const

export const area: DemoArea = {
  name: 'templates',
  summary: 'an API with its operations, from a template',
  operations: [90],
  async prepare(fixture) {
    const group = await fixture.group()
    const deployment = `${extensionPath(fixture.words, group, 'Resources/deployments')}/demo-pets`
    const service = `demo-pets-${fixture.subscriptionId.slice(0, 8)}`
    const bodyOf = (description: string): object => ({
      properties: {
        mode: 'Incremental',
        template: petsTemplate(fixture.words),
        parameters: { service: { value: service }, description: { value: description } },
      },
    })
    const first = bodyOf('One pet.')
    const second = bodyOf('One pet, by its number.')
    const query = { 'api-version': version }
    const before = await fixture.client.send('GET', deployment, { query })
    if (before.status === 404) {
      await deploy(fixture, deployment, first)
      fixture.note('Deployed: a service, an API and its operations list, read and add')
    }
    fixture.note(`What-if of another description: ${await preview(fixture, deployment, second)}`)
    await deploy(fixture, deployment, second)
    fixture.note(
      `Deployed it. What-if of the same once more: ${await preview(fixture, deployment, second)}`,
    )
    const operation = `${extensionPath(fixture.words, group, 'ApiManagement/service')}/${service}/apis/pets/operations/read`
    return [
      ...versions.map(
        (one): DemoCall => ({
          operation: 0,
          title: `The operation that was changed, as version ${one} shows it`,
          method: 'GET',
          path: `${operation}?api-version=${one}`,
        }),
      ),
      {
        operation: 0,
        title: 'What a deployment of the first description would change',
        method: 'POST',
        path: `${deployment}/whatIf?api-version=${version}`,
        body: first,
      },
      {
        operation: 0,
        title: 'What became of each resource of the last deployment',
        method: 'GET',
        path: `${group}/deployments/demo-pets/operations?api-version=${version}`,
      },
    ]
  },
}

/** Waits for the end; throws when it failed. */
async function deploy(fixture: DemoSetup, path: string, body: object): Promise<void> {
  const query = { 'api-version': version }
  await fixture.client.waitForOperation(await fixture.client.request('PUT', path, { query, body }))
}

/** As `1 Modify, 4 NoChange`; resources that the template does not name are left out. */
async function preview(fixture: DemoSetup, path: string, body: object): Promise<string> {
  const query = { 'api-version': version }
  const answer = await fixture.client.request('POST', `${path}/whatIf`, { query, body })
  const counts = new Map<string, number>()
  for (const change of listOf(propertiesOf(answer.body), 'changes')) {
    const type = textOf(change, 'changeType') ?? ''
    if (type !== 'Ignore') counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return [...counts].map(([type, count]) => `${count} ${type}`).join(', ')
}

function petsTemplate(words: VendorWords): object {
  const service = `${words.namespace}.ApiManagement/service`
  const apiVersion = '2024-05-01'
  return {
    $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: {
      service: { type: 'string', metadata: { description: 'Name of the service.' } },
      description: { type: 'string', maxLength: 1000 },
    },
    variables: {
      operations: [
        { name: 'list', method: 'GET', url: '/pets' },
        { name: 'read', method: 'GET', url: '/pets/{petId}', in: ['petId'] },
        { name: 'add', method: 'POST', url: '/pets' },
      ],
      texts: { list: 'All pets.', read: "[parameters('description')]", add: 'One more pet.' },
    },
    resources: [
      {
        type: service,
        apiVersion,
        name: "[parameters('service')]",
        location: '[resourceGroup().location]',
        sku: { name: 'Developer', capacity: 1 },
        properties: { publisherEmail: 'apis@example.test', publisherName: 'Example' },
      },
      {
        type: `${service}/apis`,
        apiVersion,
        name: "[format('{0}/pets', parameters('service'))]",
        dependsOn: ["[parameters('service')]"],
        properties: { displayName: 'Pets', path: 'pets', protocols: ['https'] },
      },
      {
        type: `${service}/apis/operations`,
        apiVersion,
        name: "[format('{0}/pets/{1}', parameters('service'), variables('operations')[copyIndex()].name)]",
        copy: { name: 'operations', count: "[length(variables('operations'))]" },
        dependsOn: [`[resourceId('${service}/apis', parameters('service'), 'pets')]`],
        properties: {
          displayName: "[toUpper(variables('operations')[copyIndex()].name)]",
          description: "[variables('texts')[variables('operations')[copyIndex()].name]]",
          method: "[variables('operations')[copyIndex()].method]",
          urlTemplate: "[variables('operations')[copyIndex()].url]",
          templateParameters:
            "[map(coalesce(tryGet(variables('operations')[copyIndex()], 'in'), createArray()), lambda('in', createObject('name', lambdaVariables('in'), 'type', 'string', 'required', true())))]",
        },
      },
    ],
    outputs: {
      api: {
        type: 'string',
        value: `[resourceId('${service}/apis', parameters('service'), 'pets')]`,
      },
    },
  }
}
