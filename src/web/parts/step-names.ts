/** The steps of an attempt in words. Pure. */

const NAMES: Readonly<Record<string, string>> = {
  'read-input': 'read the input',
  adopt: 'look for an earlier publication',
  'look-at-branch': 'look at the branch',
  'lay-out': 'check the input out',
  'pre-guardrails': 'checks before the body',
  body: 'the body',
  'post-guardrails': 'checks after the body',
  compare: 'compare with the input',
  publish: 'publish',
  'publish/attempt-fence': 'attempt fence',
  'publish/record-result': 'record the result',
  'publish/read-ledger': 'read what was recorded',
  'publish/open-staging': 'make the staging branch',
  'publish/upload': 'upload',
  'publish/commit-staging': 'commit on the staging branch',
  'publish/verify-staging': 'verify the staging branch',
  'publish/read-facts': 'read the branch',
  'publish/publish-fence': 'publish fence',
  'publish/keep-superseded': 'keep what is replaced',
  'publish/merge': 'merge',
  'publish/replace': 'replace',
  'publish/relocate': 'move the branch back',
  'publish/verify': 'verify the branch',
  'publish/keep-evidence': 'keep what was refused',
  'publish/clean-up': 'clean up',
}

export function nameStep(step: string): string {
  return NAMES[step] ?? step.slice(step.indexOf('/') + 1).replaceAll('-', ' ')
}
