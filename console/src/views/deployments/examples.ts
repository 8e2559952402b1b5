/** Templates to begin with. */

import { qualified } from '../../api/place.ts'

const frame = {
  $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
  contentVersion: '1.0.0.0',
}

export const examples = {
  container: {
    ...frame,
    parameters: {
      name: { type: 'string', defaultValue: 'hello' },
      image: { type: 'string', defaultValue: 'busybox' },
    },
    resources: [
      {
        type: qualified('ContainerInstance/containerGroups'),
        apiVersion: '2025-09-01',
        name: "[parameters('name')]",
        location: '[resourceGroup().location]',
        properties: {
          osType: 'Linux',
          restartPolicy: 'Always',
          containers: [
            {
              name: 'hello',
              properties: {
                image: "[parameters('image')]",
                command: ['sh', '-c', 'echo Hello from a container; sleep 3600'],
                resources: { requests: { cpu: 0.5, memoryInGB: 0.5 } },
              },
            },
          ],
        },
      },
    ],
    outputs: {
      group: {
        type: 'string',
        value: `[resourceId('${qualified('ContainerInstance/containerGroups')}', parameters('name'))]`,
      },
    },
  },
  identity: {
    ...frame,
    resources: [
      {
        type: qualified('ManagedIdentity/userAssignedIdentities'),
        apiVersion: '2023-01-31',
        name: 'worker',
        location: '[resourceGroup().location]',
      },
    ],
  },
  empty: { ...frame, parameters: {}, resources: [] },
} as const

export type ExampleName = keyof typeof examples
