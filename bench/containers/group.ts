/** The group of the comparison: two containers in one network, with limits, that run until they are stopped. */

export const containerNames = ['web', 'sidecar'] as const
/** Sleeps, but stops at once: the first process of a container gets no signal that it does not handle. */
export const command = ['sh', '-c', "trap 'exit 0' TERM; sleep 100000 & wait"] as const
export const cpu = 0.5
export const memoryMegabytes = 512

export function groupBody(image: string, ran: readonly string[] = command): unknown {
  const each = { cpu, memoryInGB: memoryMegabytes / 1024 }
  return {
    location: 'local',
    properties: {
      osType: 'Linux',
      restartPolicy: 'Always',
      containers: containerNames.map((name) => ({
        name,
        properties: { image, command: ran, resources: { requests: each, limits: each } },
      })),
    },
  }
}
