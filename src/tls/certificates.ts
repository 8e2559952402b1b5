/**
 * The certificate that the https listener answers with: made here by a private authority in the home and renewed before it
 * ends, or read from files and read again when they change. Keys are for this user alone (0600) and never logged.
 */

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, statSync, unwatchFile, watchFile } from 'node:fs'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import { replaceFile } from '#files/replace-file.ts'
import type { Clock, Log } from '#kernel/ports.ts'
import type { KeyPair } from './certificate.ts'

export interface Certificates extends Disposable {
  current(): KeyPair
  /** Calls back when there is another pair. */
  onChange(callback: () => void): void
  /** What clients have to trust, as a file. */
  readonly authorityFile: string
}

interface HomeCertificatesOptions {
  readonly home: string
  /** The certificate must be good for these. */
  readonly names: readonly string[]
  /** For these, too, where the authority may speak for them. */
  readonly addresses: readonly string[]
  readonly clock: Clock
  readonly log: Log
}

const authorityDays = 3650
const days = 90
/** A certificate that ends within this time is made anew. */
const spareMilliseconds = 30 * 86_400_000
const checkMilliseconds = 3_600_000

export async function openHomeCertificates(
  options: HomeCertificatesOptions,
): Promise<Certificates> {
  const { clock, log } = options
  // Loaded only where certificates are made.
  const making = await import('./certificate.ts')
  const folder = join(options.home, 'tls')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const authorityFile = join(folder, 'ca.pem')
  const names = options.names.map((name) => name.toLowerCase())

  function authority(): KeyPair {
    const found = readPair(authorityFile, join(folder, 'ca.key'))
    const allows = found === undefined ? undefined : making.createPermissionTest(found.certificate)
    const good =
      found !== undefined && isFresh(found, clock.now()) && names.every((n) => allows?.(n))
    if (good) return found
    const known = [...new Set([...names, ...options.addresses])]
    const request = { names: known, now: clock.now(), days: authorityDays }
    const made = making.createAuthority(`Armature private authority of ${hostname()}`, request)
    writePair(authorityFile, join(folder, 'ca.key'), made)
    const again = found === undefined ? '' : '; clients must trust the new one: `armature trust`'
    log.info({ file: authorityFile }, `made a private certificate authority${again}`)
    return made
  }

  const files = [join(folder, 'certificate.pem'), join(folder, 'certificate.key')] as const

  /** The pair there is, or a new one where that is damaged, of another authority, for other names or near its end. */
  function certificate(): KeyPair {
    const by = authority()
    const allows = making.createPermissionTest(by.certificate)
    const wanted = [...new Set([...names, ...options.addresses.filter(allows)])]
    const found = readPair(...files)
    if (found !== undefined && isFresh(found, clock.now()) && isFor(found, by, wanted)) return found
    const request = { names: wanted, now: clock.now(), days }
    const made = making.issueCertificate(by, createPrivateKey(by.key), request)
    writePair(...files, made)
    log.info({ names: wanted }, 'made a certificate')
    return made
  }

  let current = certificate()
  const callbacks: (() => void)[] = []
  const timer = setInterval(() => {
    if (isFresh(current, clock.now())) return
    current = certificate()
    for (const callback of callbacks) callback()
  }, checkMilliseconds)
  timer.unref()
  return {
    current: () => current,
    onChange: (callback) => callbacks.push(callback),
    authorityFile,
    [Symbol.dispose]: () => clearInterval(timer),
  }
}

const watchMilliseconds = 2_000

/** Throws where the files cannot be read or do not belong together. */
export function openFileCertificates(options: {
  readonly certificate: string
  readonly key: string
  readonly log: Log
}): Certificates {
  const { certificate, key, log } = options
  let current = readFiles(certificate, key)
  const callbacks: (() => void)[] = []
  const look = (): void => {
    try {
      const next = readFiles(certificate, key)
      if (next.certificate === current.certificate && next.key === current.key) return
      current = next
    } catch (error) {
      // Of the two files only one may be there yet; the old pair serves until both are good.
      const reason = error instanceof Error ? error.message : String(error)
      log.warn({ certificate, key, reason }, 'the new certificate cannot be used')
      return
    }
    log.info({ certificate }, 'took a new certificate')
    for (const callback of callbacks) callback()
  }
  for (const file of [certificate, key]) {
    // Asked for by name each time, so that a file that is replaced, or a link to another one, is seen.
    watchFile(file, { interval: watchMilliseconds, persistent: false }, look)
  }
  return {
    current: () => current,
    onChange: (callback) => callbacks.push(callback),
    authorityFile: certificate,
    [Symbol.dispose]() {
      for (const file of [certificate, key]) unwatchFile(file, look)
    },
  }
}

function readFiles(certificate: string, key: string): KeyPair {
  const pair = { certificate: readText(certificate), key: readText(key) }
  checkPair(pair)
  return pair
}

/** A chain longer than this does not fit into what clients take of a handshake. */
const bytesMax = 65_536

function readText(file: string): string {
  const { size } = statSync(file)
  // An empty text would count as "none given": the listener would take it, and every handshake would fail.
  if (size === 0) throw new Error(`${file} is empty`)
  if (size > bytesMax) throw new Error(`${file} has ${size} bytes; at most ${bytesMax} are read`)
  return readFileSync(file, 'utf8')
}

/** Throws where they do not belong together. */
function checkPair({ certificate, key }: KeyPair): void {
  createSecureContext({ cert: certificate, key })
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the key is not the one of the certificate')
  }
}

/** Undefined where there is none, or none that is whole. */
function readPair(certificateFile: string, keyFile: string): KeyPair | undefined {
  if (!existsSync(certificateFile) || !existsSync(keyFile)) return undefined
  try {
    return readFiles(certificateFile, keyFile)
  } catch {
    // A half-written or damaged pair is made anew.
    return undefined
  }
}

/** The key first, so that a certificate is never without its key for long. */
function writePair(certificateFile: string, keyFile: string, pair: KeyPair): void {
  replaceFile(keyFile, pair.key)
  replaceFile(certificateFile, pair.certificate, { mode: 0o644 })
}

function isFresh({ certificate }: KeyPair, now: number): boolean {
  return Date.parse(new X509Certificate(certificate).validTo) - now > spareMilliseconds
}

function isFor(pair: KeyPair, authority: KeyPair, names: readonly string[]): boolean {
  const certificate = new X509Certificate(pair.certificate)
  const issuer = new X509Certificate(authority.certificate)
  return (
    certificate.verify(issuer.publicKey) &&
    certificate.subjectAltName?.split(', ').length === names.length &&
    names.every((name) =>
      isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name),
    )
  )
}
