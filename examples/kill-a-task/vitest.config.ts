// Otherwise Vitest would take the configuration of the repository around this folder.
export default {}
