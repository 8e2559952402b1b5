/**
 * Compares the Pod that a cluster made with the one that was sent. Clusters fill in defaults, and admission may add
 * containers. What counts is that our containers have exactly what was requested. Pure.
 */

import { at, booleanAt, type Json, listAt, textAt } from '../json.ts'

/** Descriptions of the differences; empty when the Pod is as requested. */
export function podDifferences(sent: Json, made: Json): readonly string[] {
  const found: string[] = []
  for (const key of ['hostNetwork', 'hostPID', 'hostIPC']) {
    if (booleanAt(made, 'spec', key)) found.push(`it has ${key}`)
  }
  const asked = volumesOf(sent)
  for (const [name, volume] of volumesOf(made)) {
    const folder = textAt(volume, 'hostPath', 'path')
    if (folder !== textAt(asked.get(name), 'hostPath', 'path')) {
      found.push(`the volume '${name}' is the folder '${folder}' of a node`)
    }
  }
  for (const list of ['initContainers', 'containers']) {
    const containers = new Map(
      listAt(made, 'spec', list).map((each) => [textAt(each, 'name'), each] as const),
    )
    for (const wanted of listAt(sent, 'spec', list)) {
      const name = textAt(wanted, 'name')
      const container = containers.get(name)
      const told =
        container === undefined ? ['it is not there'] : containerDifferences(wanted, container)
      found.push(...told.map((one) => `'${name}': ${one}`))
    }
  }
  return found
}

function volumesOf(pod: Json): ReadonlyMap<string, Json> {
  return new Map(listAt(pod, 'spec', 'volumes').map((each) => [textAt(each, 'name'), each]))
}

function containerDifferences(wanted: Json, made: Json): readonly string[] {
  const found: string[] = []
  const mounts = new Map(
    listAt(made, 'volumeMounts').map((each) => [textAt(each, 'mountPath'), each] as const),
  )
  for (const mount of listAt(wanted, 'volumeMounts')) {
    const path = textAt(mount, 'mountPath')
    const other = mounts.get(path)
    const isSame =
      textAt(other, 'name') === textAt(mount, 'name') &&
      booleanAt(other, 'readOnly') === booleanAt(mount, 'readOnly')
    if (!isSame) found.push(`something else is mounted at ${path}`)
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
  for (const key of ['runAsUser', 'runAsGroup', 'allowPrivilegeEscalation']) {
    const asked = at(mine, key)
    if (asked !== undefined && asked !== at(theirs, key)) found.push(`${key} is not ${asked}`)
  }
  return found
}
