/** Why a repository is not to be had. The message is fit for the user who named it, and holds no password. */

export class RepositoryError extends Error {
  /** `never`: another attempt would fail the same way. */
  readonly retry: 'later' | 'never'

  constructor(retry: 'later' | 'never', message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RepositoryError'
    this.retry = retry
  }
}
