/**
 * Makes certificates: an authority that may speak only for the names it was made for, and certificates signed by it.
 * Pure but for the keys, which are fresh each time. Elliptic curve P-256, which every client of today reads.
 */

import {
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  AuthorityKeyIdentifier,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  GeneralSubtree,
  GeneralSubtrees,
  id_ce_authorityKeyIdentifier,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_nameConstraints,
  id_ce_subjectAltName,
  id_ce_subjectKeyIdentifier,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  NameConstraints,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectKeyIdentifier,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'

/** A certificate and its private key, as PEM. */
export interface KeyPair {
  readonly certificate: string
  /** Never print it. */
  readonly key: string
}

/** What a certificate is made for. */
interface CertificateRequest {
  /** Host names and addresses. */
  readonly names: readonly string[]
  /** Milliseconds since 1970. */
  readonly now: number
  readonly days: number
}

/** Networks that no certificate of the public internet can be for: an authority may always speak for them. */
const privateNetworks = [
  '127.0.0.0/8',
  '::1/128',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  'fc00::/7',
  'fe80::/10',
]

const dayMilliseconds = 86_400_000
/** Clocks of clients may be behind. */
const spareMilliseconds = 3_600_000
const ecdsaWithSha256 = '1.2.840.10045.4.3.2'
const commonName = '2.5.4.3'

/** An authority for these names, names below them, and addresses of private networks. */
export function createAuthority(title: string, request: CertificateRequest): KeyPair {
  const own = newKey()
  const subject = nameOf(title)
  const permitted = [
    ...request.names.map((name) => (isIP(name) === 0 ? name : hostNetwork(name))),
    ...privateNetworks,
  ].map((base) => new GeneralSubtree({ base: generalName(base) }))
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 })),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign)),
    extension(
      id_ce_nameConstraints,
      new NameConstraints({ permittedSubtrees: new GeneralSubtrees(permitted) }),
    ),
    extension(id_ce_subjectKeyIdentifier, new SubjectKeyIdentifier(keyId(own)), false),
  ]
  return signed({ subject, issuer: subject, publicKey: own, extensions }, request, own, own)
}

/** A certificate of a server for these names, of which the first is its title. */
export function issueCertificate(
  authority: KeyPair,
  signer: KeyObject,
  request: CertificateRequest,
) {
  const own = newKey()
  const issuer = parse(authority.certificate)
  const extensions = [
    extension(id_ce_basicConstraints, new BasicConstraints({ cA: false })),
    extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature)),
    extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_serverAuth]), false),
    extension(
      id_ce_subjectAltName,
      new SubjectAlternativeName(request.names.map(generalName)),
      false,
    ),
    extension(
      id_ce_authorityKeyIdentifier,
      new AuthorityKeyIdentifier({ keyIdentifier: new OctetString(keyId(signer)) }),
      false,
    ),
  ]
  const subject = nameOf(request.names[0] ?? 'server')
  const wanted = { subject, issuer: issuer.tbsCertificate.subject, publicKey: own, extensions }
  return signed(wanted, request, own, signer)
}

/** Tells whether an authority may speak for a name. */
export function createPermissionTest(authority: string): (name: string) => boolean {
  const extensions = parse(authority).tbsCertificate.extensions ?? []
  const found = extensions.find((one) => one.extnID === id_ce_nameConstraints)
  if (found === undefined) return () => true
  const { permittedSubtrees = [] } = AsnConvert.parse(found.extnValue.buffer, NameConstraints)
  const networks = new BlockList()
  const hosts: string[] = []
  for (const { base } of permittedSubtrees) {
    if (base.dNSName !== undefined) hosts.push(base.dNSName)
    const [address, prefix] = base.iPAddress?.split('/') ?? []
    if (address !== undefined) networks.addSubnet(address, Number(prefix), familyOf(address))
  }
  return (name) =>
    isIP(name) === 0
      ? hosts.some((host) => name === host || name.endsWith(`.${host}`))
      : networks.check(name, familyOf(name))
}

interface Wanted {
  readonly subject: Name
  readonly issuer: Name
  readonly publicKey: KeyObject
  readonly extensions: readonly Extension[]
}

function signed(
  wanted: Wanted,
  { now, days }: CertificateRequest,
  own: KeyObject,
  signer: KeyObject,
): KeyPair {
  const { subject, issuer, extensions } = wanted
  const serialNumber = randomBytes(16)
  // The first bit is the sign.
  serialNumber.writeUInt8((serialNumber.readUInt8(0) & 0x7f) | 0x40, 0)
  const algorithm = new AlgorithmIdentifier({ algorithm: ecdsaWithSha256 })
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: arrayBuffer(serialNumber),
    signature: algorithm,
    issuer,
    subject,
    validity: new Validity({
      notBefore: new Date(now - spareMilliseconds),
      notAfter: new Date(now + days * dayMilliseconds),
    }),
    subjectPublicKeyInfo: AsnConvert.parse(publicBytes(own), SubjectPublicKeyInfo),
    extensions: new Extensions([...extensions]),
  })
  const signature = sign('sha256', Buffer.from(AsnConvert.serialize(tbsCertificate)), signer)
  const certificate = new Certificate({
    tbsCertificate,
    signatureAlgorithm: algorithm,
    signatureValue: arrayBuffer(signature),
  })
  return {
    certificate: toPem(AsnConvert.serialize(certificate)),
    key: own.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function newKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}

function publicBytes(key: KeyObject): ArrayBuffer {
  return arrayBuffer(createPublicKey(key).export({ type: 'spki', format: 'der' }))
}

/** RFC 7093, 2: the first 160 bits of the hash of the public key. */
function keyId(key: KeyObject): ArrayBuffer {
  const bytes = Buffer.from(publicBytes(key))
  return arrayBuffer(hash('sha256', bytes, 'buffer').subarray(0, 20))
}

function extension(extnID: string, value: object, critical = true): Extension {
  const extnValue = new OctetString(AsnConvert.serialize(value))
  return new Extension({ extnID, critical, extnValue })
}

function nameOf(title: string): Name {
  const value = new AttributeValue({ utf8String: title.slice(0, 64) })
  return new Name([
    new RelativeDistinguishedName([new AttributeTypeAndValue({ type: commonName, value })]),
  ])
}

/** `host`, `192.0.2.1`, or a network. */
function generalName(text: string): GeneralName {
  const isAddress = isIP(text.split('/')[0] ?? '') !== 0
  return new GeneralName(isAddress ? { iPAddress: text } : { dNSName: text })
}

function hostNetwork(address: string): string {
  return `${address}/${isIP(address) === 4 ? 32 : 128}`
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

function parse(pem: string): Certificate {
  const text = pem.replace(/-----[A-Z ]+-----|\s/g, '')
  return AsnConvert.parse(arrayBuffer(Buffer.from(text, 'base64')), Certificate)
}

function toPem(bytes: ArrayBuffer): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}

function arrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
