/** A workspace: a part of a service in which one team keeps its APIs. */

export interface Workspace {
  readonly displayName: string
  readonly description?: string
}
