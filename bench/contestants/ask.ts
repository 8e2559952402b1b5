/** One request, by default over a new connection, as the first user of a started server sends it. */

import { type Agent, request } from 'node:http'

interface Answer {
  readonly status: number
  readonly body: string
}

interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Keeps connections open. Without it, each request opens its own. */
  readonly agent?: Agent
}

/** Rejects while nothing listens there. */
export function ask(url: string, question: Question = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers = {}, body, agent = false } = question
    const sent = request(url, { method, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(chunks).toString('utf8'),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
