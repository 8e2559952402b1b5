/**
 * The process of the load generator: reads a job as JSON from its input, keeps a fixed number of connections busy,
 * and prints the result as JSON. It prepares every byte in advance, and fails on an unexpected answer.
 */

import { text } from 'node:stream/consumers'
import { readFigures } from '../harness/process-figures.ts'
import { stampPlaceholder } from '../payload.ts'
import { openConnection } from './connection.ts'
import type { LoadJob, LoadResult, Requests, WarmUp } from './job.ts'

/** Latencies kept: more than any server here answers in the longest round. */
const samplesMax = 4_000_000
const lookSeconds = 0.05

interface Prepared {
  readonly bytes: Buffer
  /** The position of the stamp; negative if there is none. */
  readonly stampAt: number
}

function prepare(job: LoadJob, requests: Requests): readonly Prepared[] {
  return requests.paths.map((path, at) => {
    const given = requests.bodies?.[at] ?? requests.body
    const body = given ?? ''
    const headers = {
      host: `${job.host}:${job.port}`,
      ...(given === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...requests.headers,
    }
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    const bytes = Buffer.from(
      `${requests.method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`,
      'utf8',
    )
    return { bytes, stampAt: bytes.indexOf(stampPlaceholder) }
  })
}

async function run(job: LoadJob): Promise<LoadResult> {
  const prepared = prepare(job, job.requests)
  const half = job.requests.half === undefined ? prepared : prepare(job, job.requests.half)
  const { expects } = job.requests
  const samples = new Float32Array(samplesMax)
  let stamp = Date.now()
  let completed = 0
  let unmeasured = 0
  let bytesRead = 0
  let measuring = false
  let ending = false

  const result = Promise.withResolvers<never>()
  const traffic = {
    next(): Buffer {
      // No list is empty, and the index is below its length.
      const kind = Math.random() < 0.5 ? prepared : half
      const one = kind[Math.floor(Math.random() * kind.length)] as Prepared
      if (one.stampAt >= 0) writeStamp(one.bytes, one.stampAt, stamp++)
      return one.bytes
    },
    answered(status: number, bytes: number, milliseconds: number): boolean {
      if (status !== expects) {
        result.reject(new Error(`an answer had the status ${status}; expected ${expects}`))
        return false
      }
      if (measuring && completed < samplesMax) {
        samples[completed++] = milliseconds
        bytesRead += bytes
      } else unmeasured++
      return !ending
    },
    failed(error: Error): void {
      if (!ending) result.reject(error)
    },
  }
  const sockets = Array.from({ length: job.connections }, () =>
    openConnection(job.host, job.port, traffic),
  )
  await Promise.race([warmUp(job.warmUp, () => unmeasured), result.promise])
  const cpuBefore = cpuOf(job.serverPid)
  const behindBefore = cpuOf(job.behindPid)
  const ownBefore = process.cpuUsage()
  const startedAt = performance.now()
  measuring = true
  await Promise.race([pause(job.seconds), result.promise])
  measuring = false
  const seconds = (performance.now() - startedAt) / 1000
  const own = process.cpuUsage(ownBefore)
  const cpuAfter = cpuOf(job.serverPid)
  const behindAfter = cpuOf(job.behindPid)
  ending = true
  for (const socket of sockets) socket.destroy()

  const sorted = samples.subarray(0, completed).sort()
  const at = (share: number): number =>
    1000 * (sorted[Math.min(completed - 1, Math.floor(completed * share))] ?? Number.NaN)
  return {
    completed,
    seconds,
    bytesRead,
    p50Microseconds: at(0.5),
    p99Microseconds: at(0.99),
    maxMicroseconds: at(1),
    serverCpuMicroseconds: difference(cpuBefore, cpuAfter),
    behindCpuMicroseconds: difference(behindBefore, behindAfter),
    generatorCpuShare: (own.user + own.system) / 1e6 / seconds,
  }
}

function cpuOf(pid: number | undefined): number | undefined {
  return pid === undefined ? undefined : readFigures(pid)?.cpuMicroseconds
}

function difference(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before
}

function writeStamp(bytes: Buffer, at: number, stamp: number): void {
  let rest = stamp
  for (let digit = stampPlaceholder.length - 1; digit >= 0; digit--) {
    bytes[at + digit] = 48 + (rest % 10)
    rest = Math.floor(rest / 10)
  }
}

async function warmUp(
  { requests, secondsLeast, secondsMost }: WarmUp,
  answered: () => number,
): Promise<void> {
  const latest = performance.now() + secondsMost * 1000
  await pause(secondsLeast)
  while (answered() < requests && performance.now() < latest) await pause(lookSeconds)
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}

// Only `start-load.ts` starts this process, and writes a job.
const job = JSON.parse(await text(process.stdin)) as LoadJob
process.stdout.write(JSON.stringify(await run(job)))
