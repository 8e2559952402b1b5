/** The last step of an offline copy: what no snapshot holds, statistics, the comparison, and removing the mark. */

import { DatabaseEngineError } from '../engine.ts'
import { copySequences } from './catalog.ts'
import type { Session } from './connect.ts'
import {
  type DatabaseTask,
  enter,
  openSource,
  openTarget,
  openTargetServer,
  together,
} from './database-task.ts'
import { carryPublications } from './publications.ts'
import { StructureWatch, unlike } from './structure.ts'
import { finishTargetDatabase } from './target-database.ts'
import { Comparison } from './verify.ts'

/** The user has stopped writing, as offline requires; a difference in the comparison shows otherwise. */
export async function finishOffline(task: DatabaseTask): Promise<void> {
  enter(task, 'finishing', 'Setting sequences and comparing.')
  await using sessions = new AsyncDisposableStack()
  const use = <T extends AsyncDisposable>(one: T): T => sessions.use(one)
  const [source, reader, target, server] = await together([
    openSource(task).then(use),
    openSource(task).then(use),
    openTarget(task).then(use),
    openTargetServer(task).then(use),
  ])
  await copySequences(source, target)
  // The comparison finds rows that were written meanwhile.
  const [lines, comparison] = await together([
    new StructureWatch(task).differences(source, target),
    Comparison.open(task, reader).then(use),
  ])
  if (lines.length > 0) {
    throw new DatabaseEngineError(
      'refused',
      `${unlike(lines)} Nothing may be altered at either end while it is copied offline. Where the target makes another structure of the source's, make the source such that both are alike. Then start it anew.`,
    )
  }
  await Promise.all([
    comparison.compare(() => true),
    task.spec.analyze ? target.run('ANALYZE') : undefined,
  ])
  comparison.record()
  await complete(task, source, target, server)
}

/** Repeats the last step after a crash in it, when the mark may be gone already. */
export async function completeOffline(task: DatabaseTask): Promise<void> {
  await using source = await openSource(task)
  await using target = await openTarget(task)
  await using server = await openTargetServer(task)
  await complete(task, source, target, server)
}

async function complete(
  task: DatabaseTask,
  source: Session,
  target: Session,
  server: Session,
): Promise<void> {
  task.record.pastReturn = true
  task.save()
  await carryPublications(task, source, target)
  // A durable commit puts everything before it on disk.
  await finishTargetDatabase(task, source, server)
  task.onBoundary('finished')
}
