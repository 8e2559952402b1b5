/**
 * TLS of everything that goes out. Handshakes run in the loop, and finite-field Diffie-Hellman lets the other side choose
 * numbers so large that one takes a second: no such suites and groups, and no new handshake on an open connection.
 */

import { constants } from 'node:crypto'
import { DEFAULT_CIPHERS } from 'node:tls'

const [major = 0, minor = 0] = process.versions.openssl.split('.').map(Number)
const curves = 'X25519:P-256:X448:P-384:P-521'
/** Versions before 3.5 know no group that withstands quantum computers, and this way of writing neither. */
const groups =
  major > 3 || (major === 3 && minor >= 5)
    ? '?*X25519MLKEM768/?*X25519:?secp256r1/?X448:?secp384r1:?secp521r1'
    : curves

/** For whoever passes options of TLS to a connection that goes out (`tests/law/outbound.test.ts`). */
export const tlsOutward = {
  ciphers: `${DEFAULT_CIPHERS}:!DHE`,
  ecdhCurve: groups,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
} as const

/** What an error says, in plain words where it is the alert of a server that found nothing in common. */
export function wordsOf(error: Error): string {
  const code = 'code' in error ? String(error.code) : ''
  return /ALERT_HANDSHAKE_FAILURE$/.test(code) || /alert handshake failure/.test(error.message)
    ? 'the server ended the TLS handshake: it takes neither TLS 1.3 nor TLS 1.2 with elliptic curves (ECDHE) or RSA, or wants a certificate or another handshake; finite-field Diffie-Hellman (DHE) is not offered'
    : error.message
}
