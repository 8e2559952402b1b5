/** The path of saved states. */

export function snapshotPath(name: string): string {
  return `/_armature/snapshots/${encodeURIComponent(name)}`
}
