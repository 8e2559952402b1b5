/** Refuses, before anything is created, a spec that a cluster cannot run although other engines can. */

import { EngineError, type GroupSpec } from '../engine.ts'

const nameLengthMax = 63

/** `hostFolders`: every node has the folders that `host` volumes name. */
export function checkCluster(spec: GroupSpec, hostFolders: boolean): void {
  for (const { name } of [...spec.parts, ...spec.volumes]) {
    if (name.length > nameLengthMax) refused(`the name '${name}' is too long for a cluster`)
  }
  for (const { kind, name } of spec.volumes) {
    if (kind === 'archive') {
      refused(`volume '${name}' is an archive, which the Kubernetes engine cannot unpack yet`)
    }
    if (kind === 'host' && !hostFolders) {
      refused(`volume '${name}' is a folder of the host, and the nodes of a cluster differ`)
    }
  }
}

function refused(message: string): void {
  throw new EngineError('refused', message)
}
