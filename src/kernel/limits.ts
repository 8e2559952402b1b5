/**
 * All limits of the server, printed into `docs/reference/limits.md`. Settings override those that a user may set.
 */

export interface Limits {
  readonly bodyBytesMax: number
  readonly businessBodyBytesMax: number
  readonly bodyBytesAtOncePerPrincipalMax: number
  readonly bodyBytesAtOnceMax: number
  readonly answersAtOncePerPrincipalMax: number
  readonly answersAtOnceMax: number
  readonly bodyDepthMax: number
  readonly bodyMembersMax: number
  readonly bodyPropertiesMax: number
  readonly headerBytesMax: number
  readonly pageSize: number
  readonly pageSizeMax: number
  readonly pageBytesMax: number
  readonly locationMax: number
  readonly filterScanRowsMax: number
  readonly tagsMax: number
  readonly tagNameMax: number
  readonly tagValueMax: number
  readonly operationKeptSeconds: number
  readonly leaseSeconds: number
  readonly stepsAtOnceMax: number
  readonly backoffSecondsMax: number
  readonly transactionRetriesMax: number
  readonly requestSeconds: number
  readonly drainSeconds: number
  readonly connectionsMax: number
  readonly connectionsPerAddressMax: number
  readonly requestsPerConnectionMax: number
  readonly writeSeconds: number
  readonly writeBytesPerSecondMin: number
  readonly unreadBytesMax: number
  readonly unreadBytesPerAddressMax: number
}

export const limitNotes: Readonly<Record<keyof Limits, readonly [value: number, note: string]>> = {
  bodyBytesMax: [4 * 1024 * 1024, 'bytes of a request body'],
  businessBodyBytesMax: [
    64 * 1024 * 1024,
    'bytes of a request body of the business application; above `bodyBytesMax` two are read at once, one of a principal',
  ],
  bodyBytesAtOncePerPrincipalMax: [
    4 * 1024 * 1024,
    'bytes of request bodies above 64 KiB of one principal at once; others wait unread',
  ],
  bodyBytesAtOnceMax: [
    64 * 1024 * 1024,
    'bytes of request bodies above 64 KiB at once; others wait unread',
  ],
  answersAtOncePerPrincipalMax: [
    2,
    'lists and batches of one principal that are made, or wait to be read, at once; others wait',
  ],
  answersAtOnceMax: [16, 'lists and batches that are made at once; others wait'],
  bodyDepthMax: [64, 'levels of nesting in a JSON body'],
  bodyMembersMax: [100_000, 'objects, lists, properties and elements in a JSON body, all together'],
  bodyPropertiesMax: [20_000, 'properties of one object in a JSON body'],
  headerBytesMax: [32 * 1024, 'bytes of all request headers'],
  pageSize: [100, 'items of a list page when `$top` is not given'],
  pageSizeMax: [1000, 'items of a list page at the most'],
  pageBytesMax: [
    2 * 1024 * 1024,
    'bytes of stored resources in a list page; the one that reaches it is the last',
  ],
  locationMax: [128, 'characters of a location'],
  filterScanRowsMax: [
    5000,
    'rows looked at for one page of a filtered list; a page may come back short',
  ],
  tagsMax: [50, 'tags on a resource'],
  tagNameMax: [512, 'characters of a tag name'],
  tagValueMax: [256, 'characters of a tag value'],
  operationKeptSeconds: [7 * 24 * 3600, 'seconds an ended operation can still be read'],
  leaseSeconds: [30, 'seconds a worker holds a resource before another may take it'],
  stepsAtOnceMax: [64, 'background steps under way at once in a process'],
  backoffSecondsMax: [300, 'seconds between two tries of a failing step at the most'],
  transactionRetriesMax: [
    8,
    'tries of a transaction that lost a race before the caller hears of it',
  ],
  requestSeconds: [60, 'seconds for a synchronous answer'],
  drainSeconds: [10, 'seconds that running requests may take to finish after SIGTERM'],
  connectionsMax: [
    10_000,
    'connections of all clients together; at most as many as fit into a quarter of the heap, and with https of its own of the memory, by 100 KB each',
  ],
  connectionsPerAddressMax: [1_000, 'connections of one address that is no trusted proxy'],
  requestsPerConnectionMax: [32, 'requests of one connection that are not answered yet'],
  writeSeconds: [30, 'seconds without progress after which a client that does not read is cut off'],
  writeBytesPerSecondMin: [
    16 * 1024,
    'bytes per second below which a client reads a large answer too slowly',
  ],
  unreadBytesMax: [256 * 1024 * 1024, 'bytes of answers that wait to be read by all clients'],
  unreadBytesPerAddressMax: [
    64 * 1024 * 1024,
    'bytes of answers that wait to be read by one address',
  ],
}

export const defaultLimits: Limits = Object.freeze(
  // The type of `limitNotes` ensures that both have the same keys.
  Object.fromEntries(Object.entries(limitNotes).map(([key, [value]]) => [key, value])),
) as unknown as Limits
