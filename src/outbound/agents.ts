/** HTTP agents for clients that open their own connections (the blob client). The policy judges each connection. */

import { Agent, type ClientRequestArgs } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { connect as connectTcp, type TcpNetConnectOpts } from 'node:net'
import type { Duplex } from 'node:stream'
import { BoundedHandshake } from './bounded-handshake.ts'
import type { Destination, Outbound } from './outbound.ts'
import { tlsOutward } from './tls.ts'

interface Agents {
  readonly plain: Agent
  readonly secure: SecureAgent
}

const known = new WeakMap<Outbound, Agents>()

/** All clients of one policy share an agent, so that connections are reused. */
export function agentOf(outbound: Outbound, isSecure: boolean): Agent {
  let agents = known.get(outbound)
  if (agents === undefined) {
    agents = {
      plain: routed(new Agent({ keepAlive: true }), 'http', outbound),
      secure: routed(new SecureAgent({ keepAlive: true, ...tlsOutward }), 'https', outbound),
    }
    known.set(outbound, agents)
  }
  return isSecure ? agents.secure : agents.plain
}

function routed<A extends Agent>(agent: A, scheme: string, outbound: Outbound): A {
  const connect = agent.createConnection.bind(agent)

  async function opened(options: ClientRequestArgs): Promise<Duplex> {
    const port = Number(options.port ?? (scheme === 'https' ? 443 : 80))
    const destination: Destination = { scheme, host: options.host ?? 'localhost', port }
    const { host, lookup } = await outbound.route(destination)
    // The agent sets the name that the certificate is checked for; it does not change.
    const below =
      scheme === 'https'
        ? new BoundedHandshake(connectTcp({ host, port, lookup }).setNoDelay())
        : undefined
    const socket = connect({ ...options, host, lookup, ...(below && { socket: below }) })
    if (!socket) throw new Error('an agent of the platform gives a socket')
    below?.on('error', (error) => socket.destroy(error))
    socket.once('secureConnect', () => below?.endHandshake())
    // For the operator's log. The socket reports the error to the client.
    socket.on('error', (error) => void outbound.failed(destination, error))
    return socket
  }

  agent.createConnection = (options, callback) => {
    // Without a callback nobody would get the socket.
    opened(options).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, nothing),
    )
    return undefined
  }
  return agent
}

/** A connection without TLS whose bytes come in slices that take turns. */
export function plainConnection(options: TcpNetConnectOpts, owner?: string): Duplex {
  const socket = connectTcp(options).setNoDelay()
  return new BoundedHandshake(socket, { owner, isPlain: true })
}

/** The type requires a socket beside the error; the agent looks at the error first. */
const nothing = undefined as unknown as Duplex
