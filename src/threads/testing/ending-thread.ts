/** A thread that never starts or ends at its start, as its data say, or ends with a task, or right after one. */

import { workerData } from 'node:worker_threads'
import { answerTasks } from '../answer-tasks.ts'

if (workerData === 'ends') process.exit(0)
if (workerData === 'never') await new Promise((resolve) => setInterval(resolve, 2 ** 30))

answerTasks(async (task: string) => {
  if (task === 'end') process.exit(0)
  if (task === 'end later') setTimeout(() => process.exit(0), 50)
  return task
})
