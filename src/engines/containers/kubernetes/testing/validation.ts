/** The checks of an API server on the objects that the engine makes, as far as the engine could violate them. */

import { entriesAt, type Json, listAt, textAt } from '../../json.ts'
import { type ClusterObject, Refusal } from './objects.ts'

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/
const secretBytesMax = 1024 * 1024

/** The object as it is stored. Throws a server's answer to a malformed one. */
export function checkObject(collection: string, body: Json): ClusterObject {
  const kind = textAt(body, 'kind')
  const name = textAt(body, 'metadata', 'name')
  const labels = textsAt(body, 'labels')
  const annotations = textsAt(body, 'annotations')
  if (textAt(body, 'apiVersion') !== 'v1' || `${kind.toLowerCase()}s` !== collection) {
    throw new Refusal(400, 'BadRequest', `a ${kind} is no object of ${collection}`)
  }
  const wanted = collection === 'services' ? /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/ : subdomain
  if (!wanted.test(name) || name.length > 253) invalid(`metadata.name: '${name}'`)
  for (const value of Object.values(labels)) {
    if (!labelValue.test(value)) invalid(`metadata.labels: '${value}'`)
  }
  const spec = entriesAt(body, 'spec')
  const data = entriesAt(body, 'data')
  if (collection === 'pods') checkPod(Object.fromEntries(spec))
  if (collection === 'secrets') checkData(data)
  return {
    kind,
    metadata: {
      name,
      namespace: 'groups',
      uid: '',
      resourceVersion: textAt(body, 'metadata', 'resourceVersion'),
      creationTimestamp: '',
      labels,
      annotations,
    },
    ...(collection === 'secrets'
      ? { data: Object.fromEntries(data) }
      : { spec: Object.fromEntries(spec) }),
  }
}

function textsAt(body: Json, key: string): Record<string, string> {
  return Object.fromEntries(
    entriesAt(body, 'metadata', key).map(([name, value]) => {
      if (typeof value !== 'string') throw new Refusal(400, 'BadRequest', `${key}: not a text`)
      return [name, value]
    }),
  )
}

function checkPod(spec: Json): void {
  const main = listAt(spec, 'containers')
  if (main.length === 0) invalid('spec.containers: Required value')
  const volumes = new Set(listAt(spec, 'volumes').map((each) => textAt(each, 'name')))
  const names = new Set<string>()
  for (const each of [...listAt(spec, 'initContainers'), ...main]) {
    const name = textAt(each, 'name')
    if (!label.test(name) || names.has(name)) invalid(`containers: name '${name}'`)
    names.add(name)
    for (const mount of listAt(each, 'volumeMounts')) {
      if (!volumes.has(textAt(mount, 'name'))) invalid(`${name}: volumeMounts: Not found`)
    }
  }
  for (const each of volumes) if (!label.test(each)) invalid(`volumes: name '${each}'`)
  const policy = textAt(spec, 'dnsPolicy')
  if (policy === 'None' && listAt(spec, 'dnsConfig', 'nameservers').length === 0) {
    invalid('spec.dnsConfig.nameservers: Required value')
  }
}

function checkData(data: readonly (readonly [string, Json])[]): void {
  let bytes = 0
  for (const [key, value] of data) {
    if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) invalid(`data: key '${key}'`)
    const text = typeof value === 'string' ? value : '\0'
    const decoded = Buffer.from(text, 'base64')
    if (decoded.toString('base64') !== text) invalid(`data: '${key}' is not base64`)
    bytes += decoded.length
  }
  if (bytes > secretBytesMax) invalid('data: Too long')
}

function invalid(message: string): never {
  throw new Refusal(422, 'Invalid', message)
}
