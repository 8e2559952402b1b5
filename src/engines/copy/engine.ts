/**
 * The port of copying: one task copies one data set from a location to a location, and tells a journal what it has done,
 * so that whoever keeps the journal can count, show and resume. It knows names, locations and bytes; what a share, a
 * subscription or a right is it never learns.
 */

/** A path in objects: one file, or everything below a folder (`''` is the whole container). */
export interface ObjectsAt {
  readonly shape: 'file' | 'tree'
  readonly container: string
  /** Segments separated by `/`, none of them empty, `.` or `..`; no slash at the start or end. */
  readonly path: string
}

/** Files below a folder of this machine. */
export interface FolderLocation extends ObjectsAt {
  readonly kind: 'folder'
  /** An absolute path. Nothing outside of it is ever read or written, whatever links say. */
  readonly root: string
}

/** Blobs of a service that speaks the blob protocol. */
export interface BlobLocation extends ObjectsAt {
  readonly kind: 'blobs'
  /** `https://account.blob.example` or `http://127.0.0.1:10000/account`. */
  readonly endpoint: string
  readonly account: string
  /** Secret; never in a message. */
  readonly key: string
}

export interface PostgresTable {
  readonly kind: 'postgres'
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  /** Secret; never in a message. */
  readonly password: string
  /** `verify` uses TLS and checks the server's certificate. */
  readonly tls: 'off' | 'verify'
  readonly schema: string
  readonly table: string
}

export interface DuckdbTable {
  readonly kind: 'duckdb'
  /**
   * An absolute path: the folder that contains all servers' folders. Nothing outside of it is ever read or written.
   */
  readonly root: string
  /** The server's folder below the root, one segment. */
  readonly folder: string
  /** The file in it, without its extension. */
  readonly database: string
  readonly schema: string
  readonly table: string
}

export type ObjectsLocation = FolderLocation | BlobLocation
export type TableLocation = PostgresTable | DuckdbTable
export type CopyLocation = ObjectsLocation | TableLocation

export interface CopyTask {
  /** Unique among the tasks of a session; it has no meaning outside of it. */
  readonly id: string
  readonly source: CopyLocation
  /** A table is copied to a table, or to one file in `format`. */
  readonly target: CopyLocation
  /** The format of tables that become files. */
  readonly format?: 'Csv' | 'Parquet'
  /**
   * `full`: all of it, put beside the target and made visible in one go at the end. `incremental`: what the journal
   * does not know in this state; where nothing was ever copied it is `full`.
   */
  readonly mode: 'full' | 'incremental'
  /** Lower-case hex. It names what is put beside the target, and stays the same for the life of a mapping. */
  readonly token: string
  /** Lower-case hex. It identifies a run; a continued run keeps it. */
  readonly run: string
  /** An earlier run published the target, or this one did before it was cut off: it may be replaced. */
  readonly owned: boolean
  /**
   * This run has published everything and was cut off right after: only leftovers beside the target are removed.
   */
  readonly published: boolean
  /** Tables: the opaque end of the last successful run. */
  readonly watermark?: string
  /** Tables: a column that only grows, for a source without change numbers. */
  readonly watermarkColumn?: string
}

/** An object in a source's list. `etag` changes whenever its content may have changed. */
export interface Item {
  readonly key: string
  readonly size: number
  readonly etag: string
}

/** A written item with the digest of its bytes (`md5:…`, `sha256:…`, hex). */
export interface DoneItem extends Item {
  readonly digest: string
}

/** What to do with a listed item. */
export type ItemAction =
  | { readonly kind: 'copy' }
  /** This many bytes are safe in the target's unfinished part. */
  | { readonly kind: 'resume'; readonly offset: number }
  /** Already copied in this state. */
  | { readonly kind: 'skip' }

/** Added to earlier counts. */
export interface CountedWork {
  readonly filesRead?: number
  readonly filesWritten?: number
  readonly rowsRead?: number
  readonly rowsCopied?: number
  readonly sizeRead?: number
  readonly sizeWritten?: number
}

export interface Progress {
  /** Completely written and known from now on. Counted together with `counted` in one commit. */
  readonly done: readonly DoneItem[]
  readonly counted: CountedWork
  /** Progress that is not in `counted` yet; it replaces the last one. */
  readonly underway: CountedWork
  /** A part that is on disk or with the service. */
  readonly part?: { readonly key: string; readonly etag: string; readonly offset: number }
}

/** Where a copy reports progress, and what stops it. */
export interface CopyControl {
  readonly journal: CopyJournal
  readonly signal: AbortSignal
}

/**
 * The manifest of a task. A call is durable when it resolves. It throws its keeper's errors, and the task then
 * ends.
 */
export interface CopyJournal {
  /** What was staged is gone, perhaps with its disk: nothing is done of this run, and nothing counts. */
  forget(): Promise<void>
  /** One answer for each item, in order. At most `batchItems` items. */
  todo(items: readonly Item[]): Promise<readonly ItemAction[]>
  commit(progress: Progress): Promise<void>
  /** Which of these keys this run has done. At most `batchItems` keys. */
  holds(keys: readonly string[]): Promise<readonly boolean[]>
  /** From now on the target may hold what this run wrote. Called once everything is staged, before publishing. */
  publishing(): Promise<void>
  /** What this run has done, in bytewise order of keys; for publishing one by one. */
  done(after: string | undefined, limit: number): Promise<readonly DoneItem[]>
  /** Everything is visible: from now on only this run's items count. */
  published(outcome: {
    readonly watermark?: string
    /** Tables and full copies replace what was known; incremental ones add to it. */
    readonly replaces: boolean
    /** Counted together with the end in one commit. Progress in `underway` no longer counts. */
    readonly counted?: CountedWork
    /** A note for people, if something is worth knowing (such as why everything was copied). */
    readonly note?: string
  }): Promise<void>
}

export const batchItems = 500

/**
 * Copies in a process of its own, which lives as long as the session. Its disposal ends every copy at once, wherever it
 * is; what was staged is kept for a copy that continues it.
 */
export interface CopySession extends AsyncDisposable {
  /**
   * Resolves when all is published. Rejects with `CopyFailure`, with `CopyCancelled` within seconds of the signal
   * (what was published before is then as it was; a task that is publishing is seen to its end), or with what the journal threw. Tasks may run side by side.
   * What was staged is removed, unless the signal's reason is `toBeContinued`.
   */
  copy(task: CopyTask, journal: CopyJournal, signal: AbortSignal): Promise<void>
}

/** The reason of a signal: another session goes on with the task, so what was staged is kept. */
export const toBeContinued = 'to be continued'

export interface CopyEngine {
  open(): CopySession
}

/**
 * The world's failure. `message` is for the owner of the data and holds no secret.
 * `retry: 'later'`: nothing of the task is wrong; the same may succeed.
 */
export class CopyFailure extends Error {
  readonly code: FailureCode
  readonly retry: 'later' | 'never'
  constructor(
    code: FailureCode,
    message: string,
    retry: 'later' | 'never' = 'never',
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = 'CopyFailure'
    this.code = code
    this.retry = retry
  }
}

export type FailureCode =
  | 'SourceMissing'
  | 'SourceChanged'
  | 'SourceRefused'
  | 'TargetNotEmpty'
  | 'TargetRefused'
  | 'PathRefused'
  | 'Unsupported'
  | 'Damaged'
  | 'Unreachable'
  | 'WorkerLost'

/** A bug of ours, for the log. */
export class CopyFault extends Error {}

export class CopyCancelled extends Error {
  constructor() {
    super('the copy was cancelled')
    this.name = 'CopyCancelled'
  }
}
