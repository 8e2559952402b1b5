/** Where saved states are, for the commands about them. */

export function snapshotPath(name: string): string {
  return `/_armature/snapshots/${encodeURIComponent(name)}`
}
