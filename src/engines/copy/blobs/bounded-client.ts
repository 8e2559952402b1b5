/**
 * Sends the requests of the blob client with a bounded, routed agent. The client by itself keeps an answer whole,
 * however long, and waits for its end, however late, so a service could fill the memory or hold a run for ever.
 */

import { type Agent, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Readable } from 'node:stream'
import {
  type HttpOperationResponse,
  type IHttpClient,
  RestError,
  type WebResource,
} from '@azure/storage-blob'
import { agentOf } from '#outbound/agents.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { requireFinalAnswer, TooLarge, textOf } from '#outbound/request.ts'

/** The time from a request's first byte to the head of its answer, and from there to the end of a text. */
const answerMilliseconds = 60_000
/** The longest page of a list. */
const textBytesMax = 16 * 1024 * 1024

export function boundedClient(outbound: Outbound, secure: boolean): IHttpClient {
  const agent = agentOf(outbound, secure)
  return {
    async sendRequest(request): Promise<HttpOperationResponse> {
      const answer = await headOf(request, agent)
      const status = answer.statusCode ?? 0
      const response = { request, status, headers: headersOf(request, answer) }
      if (request.method === 'HEAD') {
        answer.resume()
        return response
      }
      if (request.streamResponseStatusCodes?.has(status) === true) {
        return { ...response, readableStreamBody: answer }
      }
      return { ...response, bodyAsText: await wholeText(answer) }
    },
  }
}

function headOf(request: WebResource, agent: Agent): Promise<IncomingMessage> {
  const { url, method } = request
  const headers = request.headers.toJson({ preserveCase: true })
  const send = url.startsWith('https:') ? requestSecure : requestPlain
  return new Promise<IncomingMessage>((resolve, reject) => {
    const call = send(url, { method, agent, headers })
    const fail = (error: Error & { readonly code?: string }): void => {
      clearTimeout(timer)
      const code = error.code ?? RestError.REQUEST_SEND_ERROR
      reject(new RestError(error.message, { code }))
    }
    const timer = setTimeout(() => call.destroy(new Error('it is silent')), answerMilliseconds)
    call.once('response', (answer) => {
      clearTimeout(timer)
      resolve(answer)
    })
    call.on('error', fail)
    requireFinalAnswer(call)
    const body = typeof request.body === 'function' ? request.body() : request.body
    // The client passes bytes, text, or a Node stream.
    if (isStream(body)) body.once('error', (error) => call.destroy(error)).pipe(call)
    else call.end(body)
  })
}

function isStream(body: unknown): body is Readable {
  return typeof body === 'object' && body !== null && 'pipe' in body
}

function headersOf(request: WebResource, { headers }: IncomingMessage): WebResource['headers'] {
  const own = request.headers.clone()
  for (const name of own.headerNames()) own.remove(name)
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) own.set(name, typeof value === 'string' ? value : value.join(', '))
  }
  return own
}

async function wholeText(answer: IncomingMessage): Promise<string> {
  const timer = setTimeout(() => answer.destroy(new Error('it is slow')), answerMilliseconds)
  try {
    return await textOf(answer, textBytesMax)
  } catch (error) {
    const code = error instanceof TooLarge ? 'AnswerTooLarge' : RestError.REQUEST_SEND_ERROR
    throw new RestError('the answer was broken off', { code })
  } finally {
    clearTimeout(timer)
  }
}
