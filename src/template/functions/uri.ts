/** Functions of URIs and data URIs. They work on texts alone, and fetch nothing. */
import { objectOf } from '../fields.ts'
import type { Json } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import { base64Of, textOfBase64, utf8Text } from './base64.ts'
import type { Call, ValueFunction } from './define.ts'
import { isInteger, memberOf, objectAt, textAt, textOf } from './values.ts'

const group = 'string'

export const uriFunctions: readonly ValueFunction[] = [
  {
    name: 'buildUri',
    group,
    parameters: 'parts',
    least: 1,
    most: 1,
    doc: 'The URI of its parts: scheme and host, and if wanted port, path and query.',
    apply: buildUri,
  },
  {
    name: 'dataUri',
    group,
    parameters: 'value',
    least: 1,
    most: 1,
    doc: 'A data URI that holds the value as text, as string() writes it.',
    apply([value = null], { quota }) {
      return `data:text/plain;charset=utf8;base64,${base64Of(textOf(value, quota), quota)}`
    },
  },
  {
    name: 'dataUriToString',
    group,
    parameters: 'dataUri',
    least: 1,
    most: 1,
    doc: 'The text that a data URI holds.',
    apply(values, call) {
      const text = textAt(values, 0, call)
      const [, media = '', data = ''] = /^data:([^,]{0,1000}),([\s\S]*)$/i.exec(text) ?? []
      if (!/^data:[^,]{0,1000},/i.test(text)) {
        throw new EvaluationError(`${call.name}() got no data URI`)
      }
      return /;\s*base64$/i.test(media) ? textOfBase64(data, call) : decoded(data)
    },
  },
  {
    name: 'parseUri',
    group,
    parameters: 'uri',
    least: 1,
    most: 1,
    doc: 'The parts of a URI: scheme, host, port, path and query.',
    apply: parseUri,
  },
  {
    name: 'uri',
    group,
    parameters: 'base, relative',
    least: 2,
    most: 2,
    doc: 'The relative URI put behind the last slash of the base.',
    apply: uri,
  },
  {
    name: 'uriComponent',
    group,
    parameters: 'text',
    least: 1,
    most: 1,
    doc: 'The text with everything escaped that has a meaning in a URI.',
    apply(values, call) {
      const text = textAt(values, 0, call)
      call.quota.produce(text.length)
      return escapedComponent(text)
    },
  },
  {
    name: 'uriComponentToString',
    group,
    parameters: 'component',
    least: 1,
    most: 1,
    doc: 'The text that an escaped component of a URI stands for.',
    apply: (values, call) => decoded(textAt(values, 0, call)),
  },
]

function escapedComponent(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

/** Escapes that are none stay as they are. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-fA-F]{2})+/g, (run) =>
    utf8Text(Uint8Array.from(run.split('%').slice(1), (digits) => Number.parseInt(digits, 16))),
  )
}

const absolutePattern = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#.*)?$/s

function uri(values: readonly Json[], call: Call): Json {
  const base = textAt(values, 0, call)
  const relative = textAt(values, 1, call)
  const found = absolutePattern.exec(base)
  const [, scheme = '', host = '', path = ''] = found ?? []
  if (found === null || host === '') {
    throw new EvaluationError(`${call.name}() expects a whole URI as its base, not '${base}'`)
  }
  // A relative URI that is whole needs no base.
  if (absolutePattern.test(relative)) return escapedUri(relative)
  const folder = path === '' ? '/' : path.slice(0, path.lastIndexOf('/') + 1)
  return escapedUri(`${scheme}://${host}${folder}${relative.replace(/^\//, '')}`)
}

/** Escapes what no URI may hold; what is escaped already stays so. */
function escapedUri(text: string): string {
  return encodeURI(text.toWellFormed())
    .replace(/%25([0-9a-fA-F]{2})/g, '%$1')
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']')
}

function parseUri(values: readonly Json[], call: Call): Json {
  const text = textAt(values, 0, call)
  const [, scheme = '', authority = '', path = '', query] = absolutePattern.exec(text) ?? []
  const [, host = '', port] =
    /^(?:[^@]*@)?(\[[^\]]*\]|[^:]*)(?::([0-9]{1,5}))?$/.exec(authority) ?? []
  if (scheme === '' || host === '') {
    throw new EvaluationError(`${call.name}() expects a whole URI, not '${text}'`)
  }
  return objectOf([
    ['scheme', scheme.toLowerCase()],
    ['host', host.toLowerCase()],
    ['port', port === undefined ? (defaultPorts.get(scheme.toLowerCase()) ?? -1) : Number(port)],
    ['path', path === '' ? '/' : path],
    ['query', query === undefined ? '' : `?${query}`],
  ])
}

const defaultPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
  ['ftp', 21],
  ['ws', 80],
  ['wss', 443],
])

function buildUri(values: readonly Json[], call: Call): Json {
  const parts = objectAt(values, 0, call)
  const part = (name: string): string => {
    const value = memberOf(parts, name, call.quota) ?? null
    if (value === null) return ''
    if (typeof value === 'string' || isInteger(value)) return String(value)
    throw new EvaluationError(`${call.name}() expects '${name}' to be a string`)
  }
  const scheme = part('scheme').toLowerCase()
  const host = part('host')
  const port = part('port')
  if (!/^[a-z][a-z0-9+.-]*$/.test(scheme) || !/^(?:[^/?#@:\s]+|\[[0-9a-fA-F:.]+\])$/.test(host)) {
    throw new EvaluationError(`${call.name}() needs a scheme and a host`)
  }
  if (!/^(?:-1|[0-9]{0,5})$/.test(port) || Number(port) > 65_535) {
    throw new EvaluationError(`${call.name}() expects a port up to 65535`)
  }
  const isDefault = port === '' || port === '-1' || Number(port) === defaultPorts.get(scheme)
  const path = part('path').replace(/^\/*/, '/')
  const query = part('query').replace(/^\?/, '')
  return escapedUri(
    `${scheme}://${host}${isDefault ? '' : `:${port}`}${path}${query === '' ? '' : `?${query}`}`,
  )
}
