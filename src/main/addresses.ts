/** The addresses of the server, the one it calls itself, and the certificate for them. */

import { hostname, networkInterfaces } from 'node:os'
import type { Clock, Log } from '#kernel/ports.ts'
import { isLoopback } from '#outbound/address.ts'
import { type Certificates, openFileCertificates, openHomeCertificates } from '#tls/certificates.ts'
import { trustAuthority } from '#tls/trust.ts'
import { isServerName } from '../config/tls.ts'
import type { Config } from '../config.ts'

/** None ends in a slash. */
export interface Addresses {
  /** The address the installation calls itself. */
  readonly url: string
  readonly httpUrl: string
  readonly httpsUrl?: string
  /** The address by which this machine reaches it, without a certificate. */
  readonly localUrl: string
}

type Listening = Pick<Config, 'host' | 'publicUrl' | 'tlsNames'>

const everywhere: readonly string[] = ['0.0.0.0', '::', '[::]']

export function addressesOf(
  config: Listening,
  ports: { readonly port: number; readonly securePort?: number },
): Addresses {
  const { host, publicUrl } = config
  const isEverywhere = everywhere.includes(host)
  const reached = isEverywhere ? (ownAddresses()[0] ?? hostname()) : host
  const local = isEverywhere ? (host === '0.0.0.0' ? '127.0.0.1' : 'localhost') : host
  const httpUrl = `http://${bracketed(reached)}:${ports.port}`
  const localUrl = `http://${bracketed(local)}:${ports.port}`
  const { securePort } = ports
  if (securePort === undefined) return { url: publicUrl ?? httpUrl, httpUrl, localUrl }
  const httpsUrl = `https://${bracketed(titleOf(config))}:${securePort}`
  return { url: publicUrl ?? httpsUrl, httpUrl, httpsUrl, localUrl }
}

/** The main name of the certificate. */
function titleOf({ host, tlsNames }: Listening): string {
  if (tlsNames[0] !== undefined) return tlsNames[0].toLowerCase()
  if (everywhere.includes(host)) return ownName() ?? 'localhost'
  return isLoopback(host) ? 'localhost' : host
}

/** The addresses of the machine's networks, IPv4 first. */
function ownAddresses(): readonly string[] {
  const outward = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, scopeid }) => !internal && (scopeid ?? 0) === 0)
  const ipv4 = outward.filter(({ family }) => family === 'IPv4')
  return [...ipv4, ...outward.filter((one) => !ipv4.includes(one))].map(({ address }) => address)
}

function ownName(): string | undefined {
  const name = hostname().toLowerCase()
  return isServerName(name) ? name : undefined
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
}

/** Undefined when https is off. Throws when configured files cannot be used. */
export async function openCertificates({
  config,
  clock,
  log,
}: {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
}): Promise<Certificates | undefined> {
  if (config.tls === undefined) return undefined
  if (config.tls !== 'auto') return openFileCertificates({ ...config.tls, log })
  const own = ownName()
  const names = [
    titleOf(config),
    'localhost',
    '127.0.0.1',
    '::1',
    ...(own === undefined ? [] : [own]),
    ...(everywhere.includes(config.host) || !isServerName(config.host) ? [] : [config.host]),
    ...config.tlsNames,
  ].map((name) => name.toLowerCase())
  const certificates = await openHomeCertificates({
    home: config.home,
    names: [...new Set(names)],
    addresses: everywhere.includes(config.host) ? ownAddresses() : [],
    clock,
    log,
  })
  // The installation also sends requests to itself: the consent of its own sign-in.
  trustAuthority(certificates.authorityFile)
  return certificates
}
