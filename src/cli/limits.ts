/** The limits of this room. `docs/reference/limits.md` is written from these comments. */

// ── command line
/** @internal How long a finished command waits for what a task left running before the process exits. */
export const COMMAND_LINGER_MS = 500
/** Processes, or tasks in each, that a command can start. */
export const COMMAND_COUNT_MAX = 1_024
/** A file of parameters, or of an input, that is named on the command line; the same for standard input. */
export const ARGUMENT_FILE_MAX_BYTES = 10_485_760
/** Longest `--stop-deadline`. */
export const STOP_DEADLINE_MAX_MS = 86_400_000
/** @internal How long a run that `perago run --watch` ends may take to end, before it is killed. */
export const WATCHED_RUN_END_MS = 30_000

// ── perago dev
/** @internal How often source files are looked at for changes. */
export const SOURCE_LOOK_MS = 300
/** Source files watched for changes; changes of others are not noticed. */
export const SOURCE_FILES_WATCHED_MAX = 2_000
/** A start waits at most three times this long for a killed `perago dev` of the directory. */
export const DEV_ENGINE_LEASE_MS = 4_000
/** @internal How often it looks whether that one is gone. */
export const DEV_ENGINE_LOOK_MS = 50
/** Time to load a changed module of tasks. */
export const DEV_READ_MS = 60_000
/** @internal Most bytes of definitions that a module declares. */
export const DEV_READ_MAX_BYTES = 67_108_864

// ── workflows
/** @internal How often a workflow is looked at while it is followed. */
export const WORKFLOW_LOOK_MS = 250
/** A task that waits this long, and that no worker asks for, is told by `perago run`. */
export const UNPOLLED_AFTER_MS = 8_000
/** @internal Longest name of a task, or of a domain, in that line. */
export const TASK_NAME_SHOWN_CHARS = 100
/** Workflows that `perago ps` lists. */
export const WORKFLOWS_LISTED_MAX = 200
/** Workflows that `perago workflow ls` lists unless `--limit` says otherwise. */
export const WORKFLOWS_FOUND = 20
/** Most of them. */
export const WORKFLOWS_FOUND_MAX = 1_000
/** Workflows, itself included, that are shown as the tree of one; of more, those that started last are left out. */
export const WORKFLOW_TREE_MAX = 200
/** How long `perago run` and `perago workflow watch` wait for a server that is away. */
export const WORKFLOW_OUTAGE_MAX_MS = 1_800_000

// ── doctor
/** Branches that `perago doctor` looks at: those that are named, then those of open workflows. */
export const DOCTOR_BRANCHES_MAX = 20
/** @internal How often a command that npm has started looks whether npm is still there. */
export const COMMAND_NPM_LOOK_MS = 250
