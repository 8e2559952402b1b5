/** Settings of the https listener: the source of its certificate, and the certificate's names. */

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { choice, text, textList, wholeNumber } from './setting.ts'

export interface TlsConfig {
  /** `undefined`: no https. */
  readonly tls: TlsSource | undefined
  readonly tlsPort: number
  /** Names and addresses of the server, besides those it finds out itself. */
  readonly tlsNames: readonly string[]
  /** Origins of pages whose scripts may call the server. `*` is any. */
  readonly corsOrigins: readonly string[]
}

type TlsSource = 'auto' | { readonly certificate: string; readonly key: string }

const hostName =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i

/** A host name or an address that a certificate may contain. */
export function isServerName(name: string): boolean {
  return !name.includes('%') && (isIP(name) !== 0 || hostName.test(name))
}

function isOrigin(value: string): boolean {
  return value === '*' || URL.parse(value)?.origin === value
}

export const tlsSettings = {
  tls: choice(['off', 'auto', 'files'], {
    default: 'off',
    description:
      'Whether https is served beside http. `auto` makes a private authority in the home and a certificate by it, for localhost, the name of the host and the names of `ARMATURE_TLS_NAMES`; `armature trust` tells how to trust it. `files` takes certificate and key from files.',
  }),
  tlsPort: wholeNumber(0, 65_535, {
    default: '8943',
    description: 'The port of https. 0 picks a free one.',
  }),
  tlsNames: textList('host names and addresses, with commas between them', isServerName, {
    description:
      'Names and addresses that the certificate of `ARMATURE_TLS=auto` is for, besides localhost and the name of the host. The first is the one the server names itself by.',
    bad: 'is no host name and no address',
  }),
  tlsCertificate: text('empty, or a file', (v) => !v.includes('\0'), {
    default: '',
    description:
      'For `files`: the certificate and those between it and the authority, as PEM. Read again when it changes.',
  }),
  tlsKey: text('empty, or a file', (v) => !v.includes('\0'), {
    default: '',
    description: 'For `files`: the private key, as PEM. Read again when it changes.',
  }),
  corsOrigins: textList('origins such as https://portal.example, or `*`', isOrigin, {
    description:
      'Origins of pages whose scripts may ask this server and read its answers. Empty: none but the server’s own.',
    bad: 'is no origin such as https://portal.example',
  }),
} as const

interface Named {
  readonly tls: 'off' | 'auto' | 'files'
  readonly tlsPort: number
  readonly tlsNames: readonly string[]
  readonly tlsCertificate: string
  readonly tlsKey: string
  readonly corsOrigins: readonly string[]
}

export function arrangeTls(named: Named, directory: string): TlsConfig {
  const { tls, tlsPort, tlsNames, tlsCertificate, tlsKey, corsOrigins } = named
  const files = {
    certificate: resolve(directory, tlsCertificate),
    key: resolve(directory, tlsKey),
  }
  return {
    tls: tls === 'off' ? undefined : tls === 'files' ? files : 'auto',
    tlsPort,
    tlsNames,
    corsOrigins,
  }
}

/** Finds what is wrong between the settings; each alone is valid. */
export function findTlsProblem(values: ReadonlyMap<string, unknown>): string | undefined {
  const hasFiles = values.get('tlsCertificate') !== '' && values.get('tlsKey') !== ''
  return values.get('tls') === 'files' && !hasFiles
    ? '`files` needs ARMATURE_TLS_CERTIFICATE and ARMATURE_TLS_KEY'
    : undefined
}
