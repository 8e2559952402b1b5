/**
 * Compares the Pod that a cluster made with the one that was sent. Clusters fill in defaults, and admission may add
 * containers. What counts is that our containers have exactly what was requested. Images are not compared, because
 * clusters write the names of mirrors into them. Pure.
 */

import { at, booleanAt, type Json, listAt, textAt } from '../json.ts'

/** Descriptions of the differences; empty when the Pod is as requested. */
export function podDifferences(sent: Json, made: Json): readonly string[] {
  const found: string[] = []
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace']) {
    if (booleanAt(made, 'spec', key)) found.push(`it has ${key}`)
  }
  if (at(made, 'spec', 'automountServiceAccountToken') !== false) {
    found.push('it has a token of the cluster')
  }
  if (textAt(made, 'spec', ...seccomp) !== textAt(sent, 'spec', ...seccomp)) {
    found.push('its seccomp profile is not as asked')
  }
  const volumes = volumesOf(sent)
  for (const [name, volume] of volumesOf(made)) {
    const folder = textAt(volume, 'hostPath', 'path')
    if (folder !== textAt(volumes.get(name), 'hostPath', 'path')) {
      found.push(`the volume '${name}' is the folder '${folder}' of a node`)
    }
    const wanted = volumes.get(name)
    if (wanted !== undefined && kindOf(volume) !== kindOf(wanted)) {
      found.push(`the volume '${name}' is something else`)
    }
  }
  for (const list of ['initContainers', 'containers']) {
    const containers = new Map(
      listAt(made, 'spec', list).map((each) => [textAt(each, 'name'), each] as const),
    )
    for (const wanted of listAt(sent, 'spec', list)) {
      const name = textAt(wanted, 'name')
      const container = containers.get(name)
      const differences =
        container === undefined
          ? ['it is not there']
          : containerDifferences(wanted, container, volumes)
      found.push(...differences.map((one) => `'${name}': ${one}`))
    }
  }
  return found
}

const seccomp = ['securityContext', 'seccompProfile', 'type'] as const

/** What a volume is, and the secret that it shows. */
function kindOf(volume: Json): string {
  const kinds = Object.keys(Object(volume)).filter((key) => key !== 'name')
  return [...kinds.toSorted(), textAt(volume, 'secret', 'secretName')].join()
}

function volumesOf(pod: Json): ReadonlyMap<string, Json> {
  return new Map(listAt(pod, 'spec', 'volumes').map((each) => [textAt(each, 'name'), each]))
}

function containerDifferences(
  wanted: Json,
  made: Json,
  volumes: ReadonlyMap<string, Json>,
): readonly string[] {
  const found: string[] = []
  const mounts = new Map(
    listAt(made, 'volumeMounts').map((each) => [textAt(each, 'mountPath'), each] as const),
  )
  for (const mount of listAt(wanted, 'volumeMounts')) {
    const path = textAt(mount, 'mountPath')
    const other = mounts.get(path)
    const isSame =
      textAt(other, 'name') === textAt(mount, 'name') &&
      textAt(other, 'subPath') === textAt(mount, 'subPath') &&
      textAt(other, 'subPathExpr') === textAt(mount, 'subPathExpr') &&
      booleanAt(other, 'readOnly') === booleanAt(mount, 'readOnly')
    if (!isSame) found.push(`something else is mounted at ${path}`)
  }
  const paths = new Set(listAt(wanted, 'volumeMounts').map((each) => textAt(each, 'mountPath')))
  for (const [path, mount] of mounts) {
    // Admission may mount volumes of its own.
    const isOwn = volumes.has(textAt(mount, 'name'))
    if (isOwn && !paths.has(path)) found.push(`there is a mount at ${path}`)
  }
  if (listAt(made, 'volumeDevices').length > 0) found.push('it has a device')
  for (const key of ['command', 'args']) {
    const [requested, there] = [listAt(wanted, key), listAt(made, key)].map((each) =>
      each.join('\0'),
    )
    if (requested !== there) found.push(`its ${key} is not as asked`)
  }
  for (const key of Object.keys(Object(at(wanted, 'resources', 'limits')))) {
    const requested = quantityOf(at(wanted, 'resources', 'limits', key))
    const there = quantityOf(at(made, 'resources', 'limits', key))
    if (!(there <= requested)) found.push(`its limit of ${key} is not as asked`)
  }
  const mine = at(wanted, 'securityContext')
  const theirs = at(made, 'securityContext')
  if (booleanAt(mine, 'privileged') !== booleanAt(theirs, 'privileged')) {
    found.push('its privilege is not as asked')
  }
  const capabilities = (one: Json, key: string) => listAt(one, 'capabilities', key).map(String)
  const added = capabilities(theirs, 'add').filter(
    (name) => !capabilities(mine, 'add').includes(name),
  )
  const kept = capabilities(mine, 'drop').filter(
    (name) => !capabilities(theirs, 'drop').includes(name),
  )
  found.push(
    ...added.map((name) => `it has the capability ${name}`),
    ...kept.map((name) => `it keeps the capability ${name}`),
  )
  if (!['', 'Default'].includes(textAt(theirs, 'procMount'))) found.push('its procMount is open')
  if (textAt(theirs, 'seccompProfile', 'type') === 'Unconfined') {
    found.push('it has no seccomp profile')
  }
  for (const key of ['runAsUser', 'runAsGroup', 'allowPrivilegeEscalation']) {
    const requested = at(mine, key)
    if (requested !== undefined && requested !== at(theirs, key))
      found.push(`${key} is not ${requested}`)
  }
  return found
}

const units: Readonly<Record<string, number>> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
}

/** Clusters write the same quantity in other units. Not a number if there is none. */
function quantityOf(value: Json): number {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)([kmMGT]i?)?$/.exec(String(value)) ?? []
  return Number(number) * (unit === '' ? 1 : (units[unit] ?? Number.NaN))
}
