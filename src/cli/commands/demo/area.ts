/** The type of a demo area: a file below `areas/` that says what it prepares and which calls it prints. */

import { readdirSync } from 'node:fs'
import type { DemoSetup } from './setup.ts'

export interface DemoArea {
  /** As typed; equal to the file's name. */
  readonly name: string
  readonly summary: string
  /** Numbers of the contract's operations; the first one orders the areas. */
  readonly operations: readonly number[]
  /** The area runs things until it is ended, so it runs only when named. */
  readonly stays?: true
  /** Creates what is missing, only through the public API. Running it twice has no further effect. */
  prepare(fixture: DemoSetup): Promise<readonly DemoCall[]>
}

export interface DemoCall {
  /** The contract's number; 0 for a call that is not numbered. */
  readonly operation: number
  readonly title: string
  readonly method: string
  /** With its query, encoded as it is sent. */
  readonly path: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
  /** A long-running call: `--run` waits for its end. */
  readonly wait?: boolean
  /** Who sends it, if not the user who runs the demo. */
  readonly as?: DemoCaller
  /** The expected status, if that is a refusal. */
  readonly expect?: number
}

/** An application of the demo that sends calls itself. */
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
  // Every file below `areas/` exports its area under this name; a test loads them all.
  const { area } = (await import(url.href)) as { area: DemoArea }
  return area
}
