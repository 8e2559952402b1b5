/** The bounds of this provider (facts 4.7), as parameters of `containerInstanceProvider`. */

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
  /** Events kept of a group, and of each container. */
  readonly eventsMax: number
  /** Rows looked at for one answer about usage. */
  readonly usageRowsMax: number
  /** Processes of one container. */
  readonly processesPerContainerMax: number
}

export const defaultContainerLimits: ContainerLimits = Object.freeze({
  containersPerGroupMax: 60,
  volumesPerGroupMax: 20,
  portsPerAddressMax: 5,
  // Facts 4.7 has 100 as a default quota; one's own machine need not be rationed so.
  groupsPerSubscriptionMax: 5000,
  cpuPerGroupMax: 256,
  memoryInGBPerGroupMax: 4096,
  logBytesMax: 4 * 1024 * 1024,
  logTailMax: 1_000_000,
  revisionsPerProfileMax: 100,
  eventsMax: 25,
  usageRowsMax: 5000,
  processesPerContainerMax: 4096,
})
