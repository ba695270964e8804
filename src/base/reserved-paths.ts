/** Paths of a repository that mean something to lakeFS itself. */

/** Its actions. They belong to the owner of the repository: never part of a workspace, nor of a publication. */
export const ACTIONS_FOLDER = '_lakefs_actions/'
