/** The path of sessions: the caller's own, or a user's. */

export function sessionsOf(userId: string | undefined): string {
  return userId === undefined
    ? '/directory/me/sessions'
    : `/directory/users/${encodeURIComponent(userId)}/sessions`
}
