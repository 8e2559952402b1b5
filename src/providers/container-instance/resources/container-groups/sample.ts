/** Sample groups for the contract suite of all types. */

import type { Sample } from '#plane/declare/sample.ts'

const secrets = ['hush-variable', 'aHVzaC1maWxl', 'hush-password', 'hush-workspace']

export const sample: Sample = {
  name: (seed) => `group-${seed}`,
  body: () => groupBody('registry.example/web:1'),
  changed: () => groupBody('registry.example/web:2'),
  secrets,
}

function groupBody(image: string): object {
  return {
    location: 'here',
    tags: { owner: 'ada' },
    properties: {
      containers: [
        {
          name: 'web',
          properties: {
            image,
            ports: [{ port: 8080 }],
            environmentVariables: [
              { name: 'MODE', value: 'test' },
              { name: 'TOKEN', secureValue: 'hush-variable' },
            ],
            volumeMounts: [{ name: 'secrets', mountPath: '/run/secrets' }],
          },
        },
        { name: 'sidecar', properties: { image } },
      ],
      imageRegistryCredentials: [
        { server: 'registry.example', username: 'ada', password: 'hush-password' },
      ],
      volumes: [{ name: 'secrets', secret: { key: 'aHVzaC1maWxl' } }],
      diagnostics: {
        logAnalytics: { workspaceId: 'workspace', workspaceKey: 'hush-workspace' },
      },
    },
  }
}
