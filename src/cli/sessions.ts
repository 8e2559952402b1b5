/** Where the directory keeps sessions: the caller's own, or those of a user. */

export function sessionsOf(userId: string | undefined): string {
  return userId === undefined
    ? '/directory/me/sessions'
    : `/directory/users/${encodeURIComponent(userId)}/sessions`
}
