/** The process that lays PDFs out. */

import { answerTasks } from '#threads/answer-tasks.ts'
import { asPdf } from './printed-pdf.ts'

answerTasks(asPdf)
