/** A workspace: a part of a service that a team of its own keeps its APIs in. */

export interface Workspace {
  readonly displayName: string
  readonly description?: string
}
