/** Refuses, before anything is made, what this engine cannot give a group. It repairs nothing. */

import {
  EngineError,
  type GroupContents,
  type GroupSpec,
  isToken,
  type PartSpec,
  type VolumeSpec,
} from '../engine.ts'
import { machinePowerOf } from '../machine-powers.ts'
import { checkTexts } from '../safe-text.ts'

/** What the operator opened, beyond what every installation may. */
export interface KubernetesPowers {
  /** Parts may be privileged. */
  readonly allowPrivileged: boolean
  /** The nodes have GPUs under this resource name. */
  readonly gpuResource: string | undefined
  /** Every node has the folders that `host` volumes name. */
  readonly hostFolders: boolean
}

const nameLengthMax = 63

export function checkSpec(
  spec: GroupSpec,
  contents: GroupContents,
  powers: KubernetesPowers,
): void {
  checkTexts(spec)
  if (!/^[a-z0-9]{1,64}$/.test(spec.hash)) refused('the hash of the spec is malformed')
  checkNames('container', spec.parts)
  checkNames('volume', spec.volumes)
  for (const volume of spec.volumes) checkVolume(volume, contents, powers)
  const volumes = new Set(spec.volumes.map((volume) => volume.name))
  for (const part of spec.parts) checkPart(part, volumes, powers)
}

function checkNames(what: string, named: readonly { readonly name: string }[]): void {
  for (const { name } of named) {
    if (!isToken(name)) refused(`'${name}' is not a token`)
    if (name.length > nameLengthMax) refused(`the ${what} name '${name}' is too long for a cluster`)
  }
  if (new Set(named.map((each) => each.name)).size !== named.length) {
    refused(`two ${what}s have one name`)
  }
}

function checkVolume(volume: VolumeSpec, contents: GroupContents, powers: KubernetesPowers): void {
  if (volume.kind === 'archive') {
    refused(`volume '${volume.name}' is an archive, which the Kubernetes engine cannot unpack yet`)
  }
  if (volume.kind === 'host' && !powers.hostFolders) {
    refused(`volume '${volume.name}' is a folder of the host, and the nodes of a cluster differ`)
  }
  if (volume.kind !== 'files') return
  const files = contents.files?.get(volume.name)
  if (files === undefined) refused(`volume '${volume.name}' came without its files`)
  for (const file of files ?? []) {
    // A cluster keeps names that begin with two dots for itself.
    if (!/^[^/\0]{1,99}$/.test(file.name) || file.name === '.' || file.name.startsWith('..')) {
      refused(`a file of volume '${volume.name}' has a name that cannot be written`)
    }
  }
}

function checkPart(part: PartSpec, volumes: ReadonlySet<string>, powers: KubernetesPowers): void {
  for (const mount of part.mounts) {
    if (!volumes.has(mount.volume)) refused(`there is no volume '${mount.volume}'`)
  }
  const power = machinePowerOf(part)
  if (power !== undefined && !powers.allowPrivileged) {
    refused(`'${part.name}' asks ${power}, which the operator has not allowed`)
  }
  if (part.security?.seccompProfile !== undefined) {
    refused(`'${part.name}' brings a seccomp profile, which a cluster takes from its nodes only`)
  }
  if ((part.gpu ?? 0) > 0 && powers.gpuResource === undefined) {
    refused(`'${part.name}' asks for ${part.gpu} GPUs, and this engine has none`)
  }
}

function refused(message: string): void {
  throw new EngineError('refused', message)
}
