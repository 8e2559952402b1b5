/** Reads what Docker and Podman count of a running container. */

import type { ContainerStats, NetworkStats } from '../engine.ts'
import { entriesAt, type Json, numberAt, timeAt } from '../json.ts'

export function readContainerStats(name: string, stats: Json): ContainerStats {
  return {
    name,
    at: timeAt(stats, 'read') ?? 0,
    cpuNanoseconds: numberAt(stats, 'cpu_stats', 'cpu_usage', 'total_usage'),
    memoryBytes: numberAt(stats, 'memory_stats', 'usage'),
  }
}

/** The sum over all interfaces. Undefined if the engine counts none. */
export function readNetwork(stats: Json): NetworkStats | undefined {
  const interfaces = entriesAt(stats, 'networks').map(([, one]) => one)
  if (interfaces.length === 0) return undefined
  const sumOf = (key: string): number =>
    interfaces.reduce<number>((sum, one) => sum + numberAt(one, key), 0)
  return {
    at: timeAt(stats, 'read') ?? 0,
    receivedBytes: sumOf('rx_bytes'),
    transmittedBytes: sumOf('tx_bytes'),
  }
}
