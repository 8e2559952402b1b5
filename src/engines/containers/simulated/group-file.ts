/**
 * The state of the simulated engine: one small JSON file per group, replaced as a whole, so that a process killed
 * at any moment leaves the old or the new state, and the next process finds what "really" runs. It holds
 * names, scripts and times; secrets never reach it.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import type { PortSpec } from '../engine.ts'
import type { SimulatedRun } from './restart-policy.ts'

export interface SimulatedContainer extends SimulatedRun {
  readonly name: string
  readonly image: string
  readonly command: readonly string[]
}

export interface SimulatedGroup {
  readonly installation: string
  readonly group: string
  readonly hash: string
  readonly sandbox: 'up' | 'down'
  readonly ports: readonly PortSpec[]
  readonly volumes: readonly string[]
  readonly parts: readonly SimulatedContainer[]
}

export class GroupFiles {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(join(folder, 'groups'), { recursive: true, mode: 0o700 })
  }

  read(installation: string, group: string): SimulatedGroup | undefined {
    // Only `write` makes these files, so they hold groups.
    return this.#json(this.#path(installation, group)) as SimulatedGroup | undefined
  }

  write(group: SimulatedGroup): void {
    replaceFile(this.#path(group.installation, group.group), JSON.stringify(group))
  }

  remove(installation: string, group: string): void {
    rmSync(this.#path(installation, group), { force: true })
  }

  list(installation: string): readonly SimulatedGroup[] {
    return readdirSync(join(this.#folder, 'groups'))
      .filter((name) => name.startsWith(`${installation}_`) && name.endsWith('.json'))
      .flatMap((name) => {
        // As in `read`. A file removed since the folder was read is no group.
        const group = this.#json(join(this.#folder, 'groups', name)) as SimulatedGroup | undefined
        return group === undefined ? [] : [group]
      })
  }

  images(): readonly string[] {
    // Only `addImage` makes this file.
    return (this.#json(join(this.#folder, 'images.json')) as readonly string[] | undefined) ?? []
  }

  addImage(image: string): void {
    const images = new Set(this.images()).add(image)
    replaceFile(join(this.#folder, 'images.json'), JSON.stringify([...images].sort()))
  }

  #path(installation: string, group: string): string {
    return join(this.#folder, 'groups', `${installation}_${group}.json`)
  }

  #json(path: string): unknown {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      // A missing file is no group; any other error is a bug.
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
  }
}
