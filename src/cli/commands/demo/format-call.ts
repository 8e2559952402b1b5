/** Prints a call of the demo as lines for a POSIX shell. Pure. */

import type { DemoCall } from './area.ts'

/** `authorityFile`: what curl must trust, if it is not a public authority. */
export function formatCurl(url: string, call: DemoCall, authorityFile?: string): string {
  const lines = [
    `curl -sS${call.method === 'GET' ? '' : ` -X ${call.method}`} ${quote(`${url}${call.path}`)}`,
    `-H "Authorization: Bearer $(${tokenLine(call)})"`,
  ]
  if (authorityFile !== undefined) lines.push(`--cacert ${quote(authorityFile)}`)
  for (const header of headersOf(call)) lines.push(`-H ${quote(header)}`)
  if (call.body !== undefined) {
    lines.push(`-H 'Content-Type: application/json'`, `-d ${quote(JSON.stringify(call.body))}`)
  } else if (call.method !== 'GET') {
    // A POST without a body must still state its length.
    lines.push("-H 'Content-Length: 0'")
  }
  return lines.map((line, index) => (index === 0 ? line : `  ${line}`)).join(' \\\n')
}

export function formatRest(call: DemoCall): string {
  const body = call.body === undefined ? '' : ` \\\n  --body ${quote(JSON.stringify(call.body))}`
  const as = call.as === undefined ? '' : ` \\\n  --token "$(${tokenLine(call)})"`
  const headers = headersOf(call).map((header) => ` \\\n  --header ${quote(header)}`)
  return `npx armature rest ${call.method} ${quote(call.path)}${headers.join('')}${body}${as}`
}

function headersOf({ headers = {} }: DemoCall): readonly string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
}

function tokenLine({ as }: DemoCall): string {
  if (as === undefined) return 'npx armature token'
  return `npx armature token --client-id ${as.clientId} --client-secret ${quote(`@${as.secretFile}`)}`
}

/** Inside single quotes, a POSIX shell gives meaning only to a single quote. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
