/** How the plain servers of the comparison read and write JSON: as cheaply as `node:http` allows. */

import type { IncomingMessage, ServerResponse } from 'node:http'

/** Reads the whole body as text, then calls `use`. */
export function readBody(request: IncomingMessage, use: (text: string) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => use(Buffer.concat(chunks).toString('utf8')))
}

export function answer(response: ServerResponse, status: number, etag: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    ETag: `"${etag}"`,
  })
  response.end(text)
}
