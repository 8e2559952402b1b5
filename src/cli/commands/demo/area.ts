/** One part of the demo: a file below `areas/` that says what it prepares and which calls it prints. */

import { readdirSync } from 'node:fs'
import type { DemoSetup } from './setup.ts'

export interface DemoArea {
  /** As typed; the same as the file's name. */
  readonly name: string
  readonly summary: string
  /** Of the contract's list; the first decides the order of areas. */
  readonly operations: readonly number[]
  /** It runs things of its own until it is ended: only for those who name it. */
  readonly stays?: true
  /** Makes what is missing, through the public API alone; twice is the same as once. */
  prepare(fixture: DemoSetup): Promise<readonly DemoCall[]>
}

export interface DemoCall {
  /** The contract's number; 0 for what stands in no numbered list. */
  readonly operation: number
  readonly title: string
  readonly method: string
  /** With its query, encoded as it is sent. */
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** Long-running: `--run` waits for its end. */
  readonly wait?: boolean
  /** Who sends it, where it is not whoever runs the demo. */
  readonly as?: DemoCaller
  /** The status it is meant to be answered with, where that is a refusal. */
  readonly expect?: number
}

/** An application of the demo that makes calls of its own. */
export interface DemoCaller {
  readonly principalId: string
  readonly clientId: string
  /** The file that holds its secret. */
  readonly secretFile: string
}

const folder = new URL('areas/', import.meta.url)

export function areaNames(): readonly string[] {
  return readdirSync(folder)
    .flatMap((name) => /^([a-z-]+)\.(?:ts|js)$/.exec(name)?.[1] ?? [])
    .sort()
}

export async function loadArea(name: string): Promise<DemoArea> {
  const extension = import.meta.url.endsWith('.js') ? 'js' : 'ts'
  const url = new URL(`${name}.${extension}`, folder)
  // Every file below `areas/` exports its area under this name; the dispatcher's test loads them all.
  const { area } = (await import(url.href)) as { area: DemoArea }
  return area
}
