/** The limits of this provider (facts 4.7), as parameters of `containerInstanceProvider`. */

export interface ContainerLimits {
  readonly containersPerGroupMax: number
  readonly volumesPerGroupMax: number
  readonly portsPerAddressMax: number
  /** Groups of one subscription. */
  readonly groupsPerSubscriptionMax: number
  readonly cpuPerGroupMax: number
  readonly memoryInGBPerGroupMax: number
  readonly logBytesMax: number
  readonly logTailMax: number
  readonly revisionsPerProfileMax: number
  /** The number of events kept for a group, and for each container. */
  readonly eventsMax: number
  /** The number of rows read for one answer about usage. */
  readonly usageRowsMax: number
  /** Processes of one container. */
  readonly processesPerContainerMax: number
  /** Members of any list or object of a body. */
  readonly membersMax: number
  readonly secretReferencesPerGroupMax: number
  readonly registryCredentialsPerGroupMax: number
  readonly userAssignedIdentitiesMax: number
  /** Keys of one secret volume, and of one set of key-value pairs. */
  readonly keysMax: number
  /** The number of secrets in a group or profile, each of which is sealed by itself. */
  readonly secretsMax: number
  readonly secretBytesMax: number
  /** Bytes of one text: Linux allows no longer argument or variable. */
  readonly textBytesMax: number
  /** Bytes of all texts of a group or profile, secrets included. */
  readonly textBytesSumMax: number
  readonly imageLengthMax: number
  readonly repositoryLengthMax: number
  /** Bytes of all revisions of a profile; the oldest are removed first. */
  readonly revisionBytesMax: number
}

export const defaultContainerLimits: ContainerLimits = Object.freeze({
  containersPerGroupMax: 60,
  volumesPerGroupMax: 20,
  portsPerAddressMax: 5,
  // Facts 4.7 has 100 as a default quota; one's own machine needs no such limit.
  groupsPerSubscriptionMax: 5000,
  cpuPerGroupMax: 256,
  memoryInGBPerGroupMax: 4096,
  logBytesMax: 4 * 1024 * 1024,
  logTailMax: 1_000_000,
  revisionsPerProfileMax: 100,
  eventsMax: 25,
  usageRowsMax: 5000,
  processesPerContainerMax: 4096,
  membersMax: 1000,
  secretReferencesPerGroupMax: 100,
  registryCredentialsPerGroupMax: 100,
  userAssignedIdentitiesMax: 100,
  keysMax: 200,
  secretsMax: 500,
  secretBytesMax: 256 * 1024,
  textBytesMax: 128 * 1024 - 1,
  textBytesSumMax: 512 * 1024,
  imageLengthMax: 1024,
  repositoryLengthMax: 2048,
  revisionBytesMax: 4 * 1024 * 1024,
})
