/** Functions of IP networks in CIDR notation, of both versions. */
import { objectOf } from '../fields.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import { type Network, readNetwork, writeAddress } from './address.ts'
import type { Call, ValueFunction } from './define.ts'
import { exactAt, integerAt, textAt } from './values.ts'

const group = 'cidr'

export const cidrFunctions: readonly ValueFunction[] = [
  {
    name: 'cidrHost',
    group,
    parameters: 'network, index',
    least: 2,
    most: 2,
    doc: 'The address of a host in the network, where 0 is the first one that can be used.',
    apply(values, call) {
      const network = networkAt(values, call)
      const index = exactAt(values, 1, call)
      const address = firstHost(network) + index
      if (index < 0n || address > lastHost(network)) {
        throw new EvaluationError(`the network has no host ${index}`)
      }
      return writeAddress(address, network.bits)
    },
  },
  {
    name: 'cidrSubnet',
    group,
    parameters: 'network, newCidr, index',
    least: 3,
    most: 3,
    doc: 'One of the smaller networks that the network is split into.',
    apply(values, call) {
      const { address, prefix, bits } = networkAt(values, call)
      const wanted = integerAt(values, 1, call)
      const index = exactAt(values, 2, call)
      if (wanted < prefix || wanted > bits) {
        throw new EvaluationError(`a network /${prefix} splits into /${prefix} to /${bits}`)
      }
      if (index < 0n || index >= 1n << BigInt(wanted - prefix)) {
        throw new EvaluationError(`the network has no subnet ${index} of /${wanted}`)
      }
      const subnet = address + (index << BigInt(bits - wanted))
      return `${writeAddress(subnet, bits)}/${wanted}`
    },
  },
  {
    name: 'parseCidr',
    group,
    parameters: 'network',
    least: 1,
    most: 1,
    doc: 'The parts of a network: its address, mask and prefix, its first and last usable address, and its broadcast.',
    apply(values, call) {
      const network = networkAt(values, call)
      const { address, prefix, bits } = network
      const isV4 = bits === 32
      const written = (one: bigint): string => writeAddress(one, bits)
      return objectOf([
        ['network', written(address)],
        ['netmask', written(((1n << BigInt(prefix)) - 1n) << BigInt(bits - prefix))],
        ...(isV4 ? [['broadcast', written(lastOf(network))] as const] : []),
        ['firstUsable', written(isV4 ? firstHost(network) : address)],
        ['lastUsable', written(lastHost(network))],
        ['cidr', prefix],
      ])
    },
  },
]

function networkAt(values: readonly Json[], call: Call): Network {
  const text = textAt(values, 0, call)
  const network = readNetwork(text)
  if (network !== undefined) return network
  throw new EvaluationError(`'${text}' is no network, such as 10.0.0.0/24 or fd00::/48`)
}

function lastOf({ address, prefix, bits }: Network): bigint {
  return address + (1n << BigInt(bits - prefix)) - 1n
}

/** Networks of one or two addresses have neither a network address nor a broadcast address. */
function isTiny({ prefix, bits }: Network): boolean {
  return bits - prefix < 2
}

function firstHost(network: Network): bigint {
  return isTiny(network) ? network.address : network.address + 1n
}

function lastHost(network: Network): bigint {
  const last = lastOf(network)
  return isTiny(network) || network.bits === 128 ? last : last - 1n
}
