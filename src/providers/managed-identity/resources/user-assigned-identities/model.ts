/** The stored shape of a user-assigned identity: the ids that the directory knows it by, the same for its life. */

export interface UserAssignedIdentity {
  readonly principalId: string
  readonly clientId: string
}

export const userAssignedType = 'ManagedIdentity/userAssignedIdentities'

/** What lets somebody act as the identity: a container that runs with it, a sign-in of another issuer. */
export const assignAction = `${userAssignedType}/assign/action`
