// Runs before every test file. A property test that fails prints its seed and path; these variables replay it, or try
// more: PERAGO_PROPERTY_SEED=123 PERAGO_PROPERTY_PATH=4:0 PERAGO_PROPERTY_RUNS=10000 npx vitest run FILE -t TITLE
import fc from 'fast-check'

const { PERAGO_PROPERTY_SEED: seed, PERAGO_PROPERTY_PATH: path, PERAGO_PROPERTY_RUNS: runs } = process.env

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  ...(seed === undefined ? {} : { seed: Number(seed) }),
  ...(path === undefined ? {} : { path }),
  ...(runs === undefined ? {} : { numRuns: Number(runs) }),
})
