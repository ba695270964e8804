/** What to do about a task that waits for a worker. */

export const START_ON_DEV =
  'Export the task from the module of "perago dev", which is read again when it changes; or cancel the run.'
export const START_WORKER = 'Start a worker: "perago start MODULE", with the module that exports the task.'
