/**
 * Maps the engine's group tokens to resources. A token cannot be converted back to an id, so this remembers them,
 * and reads all groups again when it meets an unknown one.
 */

import type { Reader, Resource } from '#plane/declare/resource.ts'
import { tokenOf } from '#plane/subject.ts'

export const groupType = 'ContainerInstance/containerGroups'

/** Every container group of the installation, one after the other. */
export function allGroups(reader: Reader): AsyncIterable<Resource> {
  return reader.each({ type: groupType, under: '/' })
}

/** The engine's name of a group. */
export function groupToken({ id, systemData }: Pick<Resource, 'id' | 'systemData'>): string {
  return tokenOf(id, systemData.createdAt)
}

export class GroupIndex {
  readonly #reader: Reader
  #keys = new Map<string, string>()
  #reading: Promise<void> | undefined

  constructor(reader: Reader) {
    this.#reader = reader
  }

  learn(token: string, key: string): void {
    this.#keys.set(token, key)
  }

  get(token: string): string | undefined {
    return this.#keys.get(token)
  }

  keys(): Iterable<string> {
    return this.#keys.values()
  }

  /** Reads all groups and forgets those that are gone. One call at a time. */
  refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    const keys = new Map<string, string>()
    for await (const group of allGroups(this.#reader)) keys.set(groupToken(group), group.id.key)
    this.#keys = keys
  }
}
