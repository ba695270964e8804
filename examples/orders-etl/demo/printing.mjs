// Prints what happens, in sentences.

export function say(line) {
  console.log(line)
}

export function title(text) {
  say(`\n${text}\n${'─'.repeat(text.length)}`)
}

/** Shortens every commit id in a string. */
export const short = (text) => String(text).replace(/[0-9a-f]{64}/g, (ref) => ref.slice(0, 10))

/** Prints the decisions of the fences and changes of the branch, not the other steps of an attempt. */
export function tellSteps(worker) {
  return (told) => {
    const line = describe(told)
    if (line === undefined) return
    const { referenceName, retryCount } = told.attempt
    say(`  ${worker}  ${referenceName.padEnd(9)}  attempt ${retryCount}  ${short(line)}`)
  }
}

function describe(told) {
  if (told.kind === 'step') return describeStep(told.event)
  if (told.kind !== 'attempt-ended') return undefined
  const { status, delivery, errorCode } = told.summary
  const why = errorCode === undefined ? '' : ` [${errorCode}]`
  const end = delivery === 'superseded' ? `ends as ${status}${why}; the queue is not told` : `${status}${why}`
  return `→ ${end}`
}

function describeStep({ step, outcome, details, error }) {
  if (step === 'body' && outcome === 'done') return 'the body has run, its files pass their checks'
  if (step === 'publish' && outcome === 'refused') return `REFUSED: ${error.message}`
  if (outcome !== 'done') return undefined
  switch (step) {
    case 'publish/attempt-fence':
      return 'attempt fence: this attempt still holds the task'
    case 'publish/publish-fence':
      return `publish fence: ${DECISIONS[details.action](details)}`
    case 'publish/merge':
      return 'published: merged into the branch'
    case 'publish/keep-superseded':
      return `${details.supersededRef} is kept under the tag ${details.tag}`
    case 'publish/replace':
      return 'published: the branch moved to this attempt’s own commit'
    case 'publish/keep-evidence':
      return describeEvidence(details.record)
    default:
      return undefined
  }
}

const DECISIONS = {
  merge: () => 'HEAD is the input, so merge',
  replace: ({ supersededRef }) =>
    `HEAD ${supersededRef} stands directly above the input, so replace it if it is this task’s own`,
  complete: () => 'HEAD is the input and nothing changed, so there is nothing to publish',
  relocate: () => 'nothing changed, but an earlier try has published: move back to the input',
  refuse: ({ reason }) => `no (${reason})`,
}

/** The record is on the staging branch and in the task's log; it is printed once, for the branch. */
let lastTold
function describeEvidence(record) {
  if (record.stagedRef === undefined || lastTold === record.stagedRef) return undefined
  lastTold = record.stagedRef
  return `evidence: what was staged, ${record.stagedRef}, is kept on a branch of its own, with this decision`
}

/** Prints the first parents of a branch, newest first, down to `since`; returns the commits above it. */
export async function showHistory(repo, branch, heading, { since } = {}) {
  title(heading)
  const commits = []
  for await (const commit of repo.log(branch, { firstParent: true })) {
    const { ref, message, metadata } = commit
    const by = metadata['publish.worker']
    say(`  ${short(ref)}  ${message}${by === undefined ? '' : `, by ${by.replace(/-\d+$/, '')}`}`)
    if (ref === since) {
      say('  …')
      break
    }
    commits.push(commit)
  }
  return commits
}
