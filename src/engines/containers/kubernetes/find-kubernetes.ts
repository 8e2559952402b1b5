/**
 * Finds a Kubernetes API that answers: by a kubeconfig in JSON, or in the folder a cluster gives its Pods. It reads
 * no environment and no YAML, and runs no helper program for credentials.
 */

import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { EngineError } from '../engine.ts'
import { at, type Json, listAt, parseJson, textAt } from '../json.ts'
import { KubernetesClient, type KubernetesTarget } from './client.ts'

interface FoundKubernetes {
  /** The first that answered, or undefined. */
  readonly target: KubernetesTarget | undefined
  /** The places tried before, and why each was passed over; printed at start. */
  readonly passedOver: readonly { readonly address: string; readonly reason: string }[]
}

interface KubernetesSources {
  /** A file as `kubectl config view --raw --flatten -o json` writes it. It is the only place tried when given. */
  readonly kubeconfig?: string
  /** Usually `/var/run/secrets/kubernetes.io/serviceaccount`. */
  readonly inClusterFolder?: string
  /** Replaces the name every cluster gives its API server. */
  readonly inClusterServer?: string
  /** Replaces the namespace that the file or the folder names. */
  readonly namespace?: string
}

const answerSeconds = 3
const inClusterServer = 'https://kubernetes.default.svc'

export async function findKubernetes(sources: KubernetesSources): Promise<FoundKubernetes> {
  const { kubeconfig, inClusterFolder } = sources
  const readers =
    kubeconfig !== undefined && kubeconfig !== ''
      ? [{ address: kubeconfig, read: () => readKubeconfig(kubeconfig) }]
      : inClusterFolder === undefined
        ? []
        : [{ address: inClusterFolder, read: () => readInCluster(inClusterFolder, sources) }]
  const passedOver: { address: string; reason: string }[] = []
  for (const { address, read } of readers) {
    try {
      const found = await read()
      const target = { ...found, namespace: sources.namespace ?? found.namespace }
      await using client = new KubernetesClient(target)
      const call = { method: 'GET', path: '/version', doing: target.server } as const
      await client.json({ ...call, silentSeconds: answerSeconds })
      return { target, passedOver }
    } catch (error) {
      // No answer at an address is a result here, not an error.
      if (!(error instanceof EngineError)) throw error
      passedOver.push({ address, reason: error.message })
    }
  }
  return { target: undefined, passedOver }
}

async function readInCluster(
  folder: string,
  sources: KubernetesSources,
): Promise<KubernetesTarget> {
  const tokenFile = join(folder, 'token')
  const [caCertificate, namespace] = await Promise.all([
    textOf(join(folder, 'ca.crt')),
    textOf(join(folder, 'namespace')),
    textOf(tokenFile),
  ])
  const server = sources.inClusterServer ?? inClusterServer
  return { server, namespace: namespace.trim(), caCertificate, tokenFile }
}

/** The target of a kubeconfig's current context. `refused` for an unsupported form. */
export async function readKubeconfig(path: string): Promise<KubernetesTarget> {
  const config = parseJson(await textOf(path))
  const refuse = (message: string) => new EngineError('refused', `${path}: ${message}`)
  if (at(config, 'clusters') === undefined) {
    throw refuse('not JSON; write it with `kubectl config view --raw --flatten -o json`')
  }
  const named = (list: string, name: string): Json => {
    const found = listAt(config, list).find((each) => textAt(each, 'name') === name)
    if (found === undefined) throw refuse(`it has no '${name}' among its ${list}`)
    return found
  }
  const context = at(named('contexts', textAt(config, 'current-context')), 'context')
  const cluster = at(named('clusters', textAt(context, 'cluster')), 'cluster')
  const user = at(named('users', textAt(context, 'user')), 'user')
  if (at(user, 'exec') !== undefined || at(user, 'auth-provider') !== undefined) {
    throw refuse('its user signs in by a helper program; give a token or a client certificate')
  }
  if (at(user, 'username') !== undefined) throw refuse('its user signs in by password')
  if (at(cluster, 'insecure-skip-tls-verify') === true) {
    throw refuse('it trusts any server; give the authority of its certificate')
  }
  const folder = dirname(path)
  const caCertificate = await pem(cluster, 'certificate-authority', folder)
  const clientCertificate = await pem(user, 'client-certificate', folder)
  const clientKey = await pem(user, 'client-key', folder)
  const tokenFile = textAt(user, 'tokenFile')
  const token = textAt(user, 'token')
  return {
    server: textAt(cluster, 'server'),
    namespace: textAt(context, 'namespace') || 'default',
    ...(caCertificate === undefined ? {} : { caCertificate }),
    ...(clientCertificate === undefined ? {} : { clientCertificate }),
    ...(clientKey === undefined ? {} : { clientKey }),
    ...(token === '' ? {} : { token }),
    ...(tokenFile === '' ? {} : { tokenFile: resolve(folder, tokenFile) }),
  }
}

/** The inline text (`…-data`), or a file beside the kubeconfig. */
async function pem(holder: Json, name: string, folder: string): Promise<string | undefined> {
  const data = textAt(holder, `${name}-data`)
  if (data !== '') return Buffer.from(data, 'base64').toString('utf8')
  const file = textAt(holder, name)
  return file === '' ? undefined : await textOf(resolve(folder, file))
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new EngineError('refused', `cannot be read: ${message}`, { cause })
  }
}
