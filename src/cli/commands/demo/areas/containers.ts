/** The demo of container groups: a web server, and a sidecar that calls it over localhost. */

import { textOf } from '#client/answer.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { containerVersion } from '../../../container-groups.ts'
import { extensionPath } from '../../../resource-path.ts'
import type { DemoArea } from '../area.ts'
import type { DemoSetup } from '../setup.ts'

const publicImage = 'docker.io/library/busybox:1'
const version = `api-version=${containerVersion}`

export const area: DemoArea = {
  name: 'containers',
  summary: 'container groups',
  operations: [3],
  async prepare(fixture) {
    const group = await fixture.group()
    const type = extensionPath(fixture.words, group, 'ContainerInstance/containerGroups')
    const path = `${type}/demo-pair`
    const image = await imageAtHand(fixture)
    fixture.note(`Image ${image}`)
    const call = (title: string, method: string, at = '', more: object = {}) => ({
      operation: 3,
      title,
      method,
      path: `${path}${at}?${version}`,
      ...more,
    })
    return [
      call('create a container group: a web server, and a sidecar that calls it', 'PUT', '', {
        body: pair(image, 'Hello from the demo'),
        wait: true,
      }),
      call('its state, and the states of its containers', 'GET'),
      call('what the sidecar heard over localhost', 'GET', '/containers/sidecar/logs'),
      call('update it: the containers are made anew', 'PUT', '', {
        body: pair(image, 'Hello again'),
        wait: true,
      }),
      call('stop it; nothing runs any more, all else is kept', 'POST', '/stop', { wait: true }),
      call('delete it with all the engine holds of it', 'DELETE', '', { wait: true }),
    ]
  },
}

/** A busybox image that needs no pull, if the engine has one. */
async function imageAtHand(fixture: DemoSetup): Promise<string> {
  const scope = `/subscriptions/${fixture.subscriptionId}`
  const locations = extensionPath(fixture.words, scope, 'ContainerInstance/locations')
  const cached = `${locations}/${await fixture.location()}/cachedImages`
  const answer = await fixture.client.send('GET', cached, {
    query: { 'api-version': containerVersion },
  })
  const list = isJsonObject(answer.body) ? answer.body['value'] : undefined
  const names = Array.isArray(list) ? list.map((one) => textOf(one, 'image') ?? '') : []
  return names.find((name) => name.includes('busybox')) ?? publicImage
}

function pair(image: string, greeting: string): object {
  const requests = { cpu: 0.5, memoryInGB: 0.1 }
  const running = (name: string, script: string, properties: object = {}) => ({
    name,
    properties: {
      image,
      command: ['sh', '-c', `trap 'exit 0' TERM; ${script}`],
      resources: { requests },
      ...properties,
    },
  })
  return {
    properties: {
      osType: 'Linux',
      restartPolicy: 'Always',
      containers: [
        running(
          'web',
          'mkdir -p /tmp/www; echo "$GREETING" > /tmp/www/index.html; httpd -p 8080 -h /tmp/www; while :; do sleep 1; done',
          {
            environmentVariables: [{ name: 'GREETING', value: greeting }],
            ports: [{ port: 8080, protocol: 'TCP' }],
          },
        ),
        running(
          'sidecar',
          'while :; do wget -q -O - http://127.0.0.1:8080/index.html; sleep 1; done',
        ),
      ],
    },
  }
}
