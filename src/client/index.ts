/** `armature-plane/client`: a typed client of an installation, for every runtime that has `fetch`. */

export type { Answer } from './answer.ts'
export { AnswerTooLarge } from './answer.ts'
export { type Client, type ClientOptions, createClient, type RequestOptions } from './client.ts'
export { ClientError, ConnectionFailure, UntrustedLink } from './client-error.ts'
export { clientCredentialsToken, deviceCodeToken, refreshedToken } from './oauth.ts'
export type { Page } from './pages.ts'
export type { WaitOptions } from './wait-for-operation.ts'
