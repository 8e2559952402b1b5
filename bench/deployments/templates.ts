/** The templates of the comparison: 800 operations of an API by a loop, and a template of nearly four megabytes. */

export const operationsCount = 800
export const operationVersion = '2024-05-01'
export const serviceName = 'bench'

export function operationBody(index: number, description: string): object {
  return {
    properties: {
      displayName: `Operation ${index}`,
      description,
      method: 'GET',
      urlTemplate: `/things/${index}/{id}`,
      templateParameters: [{ name: 'id', type: 'string', required: true }],
      responses: [{ statusCode: 200, description: 'The thing.' }],
    },
  }
}

/** The same operations as by single requests, all in one loop. */
export function operationsTemplate(api: string, description: string): object {
  return {
    $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources: [
      {
        type: 'Vendor.ApiManagement/service/apis/operations',
        apiVersion: operationVersion,
        name: `[format('${serviceName}/${api}/operation-{0}', copyIndex())]`,
        copy: { name: 'operations', count: operationsCount },
        properties: {
          displayName: "[format('Operation {0}', copyIndex())]",
          description,
          method: 'GET',
          urlTemplate: "[format('/things/{0}/{{id}}', copyIndex())]",
          templateParameters: [{ name: 'id', type: 'string', required: true }],
          responses: [{ statusCode: 200, description: 'The thing.' }],
        },
      },
    ],
  }
}

/** A typical template: a parameter, variables, a loop of three, an output. */
export function smallTemplate(): string {
  const type = 'Vendor.ApiManagement/service/apis'
  return JSON.stringify(
    {
      $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
      contentVersion: '1.0.0.0',
      parameters: { service: { type: 'string', defaultValue: 'bench' } },
      variables: { names: ['list', 'read', 'add'], path: "[toLower(parameters('service'))]" },
      resources: [
        {
          type,
          apiVersion: operationVersion,
          name: "[format('{0}/things', parameters('service'))]",
          properties: { displayName: 'Things', path: "[variables('path')]", protocols: ['https'] },
        },
        {
          type: `${type}/operations`,
          apiVersion: operationVersion,
          name: "[format('{0}/things/{1}', parameters('service'), variables('names')[copyIndex()])]",
          copy: { name: 'operations', count: "[length(variables('names'))]" },
          dependsOn: [`[resourceId('${type}', parameters('service'), 'things')]`],
          properties: {
            displayName: "[toUpper(variables('names')[copyIndex()])]",
            method: "[if(equals(copyIndex(), 2), 'POST', 'GET')]",
            urlTemplate: "[concat('/', variables('names')[copyIndex()])]",
          },
        },
      ],
      outputs: {
        id: { type: 'string', value: `[resourceId('${type}', parameters('service'), 'things')]` },
      },
    },
    undefined,
    2,
  )
}

const fillerCharacters = 4_000
const expressionsEach = 20

/** 800 resources with 20 expressions each, near the size limit. */
export function largeTemplate(): { readonly text: string; readonly expressions: number } {
  const resources = Array.from({ length: operationsCount }, (_, index) => ({
    type: 'Vendor.ApiManagement/service/apis/operations',
    apiVersion: operationVersion,
    name: `[concat('bench/large/', variables('prefix'), '${index}')]`,
    dependsOn:
      index % 10 === 0
        ? []
        : [
            `[resourceId('Vendor.ApiManagement/service/apis/operations', 'bench', 'large', concat(variables('prefix'), '${index - 1}'))]`,
          ],
    properties: {
      description: 'x'.repeat(fillerCharacters),
      values: Array.from(
        { length: expressionsEach - 2 },
        (_, at) => `[format('{0}-{1}', parameters('p'), ${at})]`,
      ),
    },
  }))
  const template = {
    $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    parameters: { p: { type: 'string', defaultValue: 'value' } },
    variables: { prefix: "[concat(parameters('p'), '-')]" },
    resources,
  }
  return { text: JSON.stringify(template), expressions: operationsCount * expressionsEach }
}
