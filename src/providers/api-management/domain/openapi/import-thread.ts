/** The thread that reads large documents, and those in YAML. */

import { answerTasks } from '#threads/answer-tasks.ts'
import { readOpenApi } from './import.ts'

answerTasks(readOpenApi)
