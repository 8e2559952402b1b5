/**
 * Refuses a group that an engine must not be given: one with a text that could be read as something else
 * (`safe-text.ts`), one that is not whole, one that asks for more than the operator allowed. Every engine calls
 * it before it makes anything, whatever the rules of the provider have let pass.
 */

import {
  type ContainerSpec,
  EngineError,
  type GroupContents,
  type GroupSpec,
  isToken,
  type Probe,
  type VolumeSpec,
} from './engine.ts'
import { requiredPrivilege } from './privileges.ts'
import {
  capabilityProblem,
  environmentNameProblem,
  fileNameProblem,
  headerNameProblem,
  headerValueProblem,
  hostFolderProblem,
  hostNameProblem,
  imageProblem,
  ipAddressProblem,
  mountPathProblem,
  plainPath,
  portProblem,
  probePathProblem,
  registryProblem,
  resolverOptionProblem,
  searchDomainProblem,
  seccompProblem,
  userIdProblem,
  valueProblem,
  wordProblem,
} from './safe-text.ts'

/** What the operator allowed, and what the engine can do. */
interface AllowedPrivileges {
  /** Whether parts may be privileged. */
  readonly allowPrivileged: boolean
  /** Whether the engine has GPUs and the runtime for them. */
  readonly gpu: boolean
  /** Whether the engine takes a seccomp profile as text. Podman and clusters need a file on their hosts. */
  readonly seccompText: boolean
}

export function checkSpec(
  spec: GroupSpec,
  contents: GroupContents,
  allowed: AllowedPrivileges,
): void {
  if (!/^[a-z0-9]{1,64}$/.test(spec.hash)) fail('the hash of the spec is malformed')
  checkTexts(spec, contents)
  const volumes = new Set(spec.volumes.map((volume) => volume.name))
  if (volumes.size !== spec.volumes.length) fail('two volumes have one name')
  if (new Set(spec.parts.map((part) => part.name)).size !== spec.parts.length) {
    fail('two containers have one name')
  }
  for (const { kind, name } of spec.volumes) {
    if (kind === 'files' && !contents.files?.has(name)) fail(`volume '${name}' has no files`)
    if (kind === 'archive' && !contents.archives?.has(name)) fail(`volume '${name}' has no archive`)
  }
  for (const part of spec.parts) {
    const lost = part.mounts.find((mount) => !volumes.has(mount.volume))
    if (lost !== undefined) fail(`there is no volume '${lost.volume}'`)
    checkPrivileges(part, allowed)
  }
}

function checkPrivileges(part: ContainerSpec, allowed: AllowedPrivileges): void {
  const power = requiredPrivilege(part)
  if (power !== undefined && !allowed.allowPrivileged) {
    fail(`'${part.name}' asks ${power}, which the operator has not allowed`)
  }
  if (part.security?.seccompProfile !== undefined && !allowed.seccompText) {
    fail(`'${part.name}' brings a seccomp profile, which this engine takes from its own host only`)
  }
  if ((part.gpu ?? 0) > 0 && !allowed.gpu) {
    fail(`'${part.name}' asks for ${part.gpu} GPUs, and this engine has none`)
  }
}

function checkTexts(spec: GroupSpec, contents: GroupContents): void {
  if (spec.hostname !== undefined) refuse(hostNameProblem(spec.hostname), 'the host name')
  for (const part of spec.parts) checkContainer(part)
  for (const volume of spec.volumes) checkVolume(volume)
  for (const { port, publish } of spec.ports) {
    refuse(portProblem(port), `the port ${port}`)
    if (publish === undefined) continue
    refuse(ipAddressProblem(publish.address), 'the address of a published port')
    if (publish.port !== undefined) refuse(portProblem(publish.port), 'a published port')
  }
  checkDns(spec)
  checkContents(contents)
}

function checkContainer(part: ContainerSpec): void {
  const of = `of '${part.name}'`
  if (!isToken(part.name)) fail(`'${part.name}' is not a token`)
  refuse(imageProblem(part.image), `the image ${shown(part.image)} ${of}`)
  checkCommand(part.command ?? [], of)
  for (const { name, value } of part.environment) checkVariable(name, value, of)
  const paths = new Set<string>()
  for (const { path } of part.mounts) {
    refuse(mountPathProblem(path), `the mount path ${shown(path)} ${of}`)
    const plain = plainPath(path)
    refuse(paths.has(plain) ? 'it is given twice' : undefined, `the mount path '${plain}' ${of}`)
    paths.add(plain)
  }
  const { addCapabilities = [], dropCapabilities = [], seccompProfile } = part.security ?? {}
  for (const name of [...addCapabilities, ...dropCapabilities]) {
    refuse(capabilityProblem(name), `the capability ${shown(name)} ${of}`)
  }
  for (const id of [part.security?.user, part.security?.group]) {
    if (id !== undefined) refuse(userIdProblem(id), `the user or group ${of}`)
  }
  if (seccompProfile !== undefined) {
    refuse(seccompProblem(seccompProfile), `the seccomp profile ${of}`)
  }
  for (const schedule of [part.liveness, part.readiness]) {
    if (schedule !== undefined) checkProbe(schedule.probe, of)
  }
}

function checkProbe(probe: Probe, of: string): void {
  if (probe.kind === 'exec') {
    checkCommand(probe.command, `of a probe ${of}`)
    return
  }
  refuse(portProblem(probe.port), `the port of a probe ${of}`)
  refuse(probePathProblem(probe.path), `the path of a probe ${of}`)
  for (const { name, value } of probe.headers) {
    refuse(headerNameProblem(name), `the header ${shown(name)} of a probe ${of}`)
    refuse(headerValueProblem(value), `the value of the header '${name}' of a probe ${of}`)
  }
}

/** Checks the command of an exec; `of` names the part. */
export function checkCommand(command: readonly string[], of: string): void {
  for (const [at, word] of command.entries()) {
    refuse(wordProblem(word, at), `word ${at + 1} of the command ${of}`)
  }
}

function checkVariable(name: string, value: string, of: string): void {
  refuse(environmentNameProblem(name), `the environment variable ${shown(name)} ${of}`)
  // The value may be a secret, so it is not shown.
  refuse(valueProblem(value), `the value of the environment variable '${name}' ${of}`)
}

function checkVolume(volume: VolumeSpec): void {
  if (!isToken(volume.name)) fail(`'${volume.name}' is not a token`)
  if (volume.kind === 'host') {
    refuse(hostFolderProblem(volume.folder), `the host folder of volume '${volume.name}'`)
  }
}

function checkDns({ dns }: GroupSpec): void {
  if (dns === undefined) return
  for (const server of dns.servers) refuse(ipAddressProblem(server), `the name server '${server}'`)
  for (const domain of dns.searchDomains) {
    refuse(searchDomainProblem(domain), `the search domain ${shown(domain)}`)
  }
  for (const option of dns.options) {
    refuse(resolverOptionProblem(option), `the DNS option ${shown(option)}`)
  }
}

function checkContents({ environment, files, credentials = [] }: GroupContents): void {
  for (const [part, variables] of environment ?? []) {
    for (const [name, value] of variables) checkVariable(name, value, `of '${part}'`)
  }
  for (const [volume, list] of files ?? []) {
    for (const { name } of list) {
      refuse(fileNameProblem(name), `the file ${shown(name)} of volume '${volume}'`)
    }
  }
  for (const { server } of credentials) {
    refuse(registryProblem(server), `the registry ${shown(server)}`)
  }
}

/** Quoted, without control characters, and short. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 200))
}

function refuse(problem: string | undefined, what: string): void {
  if (problem !== undefined) fail(`${what} is invalid: ${problem}`)
}

function fail(message: string): never {
  throw new EngineError('refused', message)
}
