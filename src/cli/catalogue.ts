/**
 * Finds the commands: the path of a file below `commands/` is the command. A folder with the same name as a file
 * holds parts of that command and no commands.
 */

import { readdirSync } from 'node:fs'
import type { Command } from './command.ts'

/** A word that leads to commands. */
export interface Branch {
  readonly kind: 'branch'
  readonly children: ReadonlyMap<string, Branch | Leaf>
}

interface Leaf {
  readonly kind: 'leaf'
  /** `role assignment create` */
  readonly name: string
  /** Loaded only when it is needed: a start should not load the other commands. */
  load(): Promise<Command>
}

export function readCatalogue(folder = new URL('commands/', import.meta.url)): Branch {
  return readBranch(folder, [])
}

const file = /^([a-z0-9-]+)\.(?:ts|js)$/

function readBranch(folder: URL, words: readonly string[]): Branch {
  const children = new Map<string, Branch | Leaf>()
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  for (const entry of entries) {
    const word = file.exec(entry.name)?.[1]
    if (!entry.isFile() || word === undefined) continue
    const name = [...words, word].join(' ')
    const load = () => loadCommand(new URL(entry.name, folder))
    children.set(word, { kind: 'leaf', name, load })
  }
  for (const entry of entries) {
    if (!entry.isDirectory() || children.has(entry.name)) continue
    const below = [...words, entry.name]
    children.set(entry.name, lazyBranch(new URL(`${entry.name}/`, folder), below))
  }
  return { kind: 'branch', children }
}

/** Its folder is read when somebody looks below it: most commands need one of forty. */
function lazyBranch(folder: URL, words: readonly string[]): Branch {
  let read: Branch | undefined
  return {
    kind: 'branch',
    get children() {
      read ??= readBranch(folder, words)
      return read.children
    },
  }
}

async function loadCommand(url: URL): Promise<Command> {
  // Every file below `commands/` exports its command under this name; a test loads them all.
  const { command } = (await import(url.href)) as { command: Command }
  return command
}

/** Every command, in order of name. */
export function leavesOf(branch: Branch): readonly Leaf[] {
  return [...branch.children.values()].flatMap((child) =>
    child.kind === 'leaf' ? [child] : leavesOf(child),
  )
}

/** Many people type `get` for `show`. */
const synonyms: ReadonlyMap<string, string> = new Map([['get', 'show']])

export interface Found {
  readonly node: Branch | Leaf
  /** The words that lead to the node. */
  readonly path: readonly string[]
  /** The remaining words. */
  readonly rest: readonly string[]
}

/** Walks down as far as the words match. */
export function findNode(root: Branch, words: readonly string[]): Found {
  let node: Branch | Leaf = root
  const path: string[] = []
  for (const word of words) {
    if (node.kind === 'leaf') break
    const known: string = node.children.has(word) ? word : (synonyms.get(word) ?? word)
    const next: Branch | Leaf | undefined = node.children.get(known)
    if (next === undefined) break
    path.push(known)
    node = next
  }
  return { node, path, rest: words.slice(path.length) }
}
