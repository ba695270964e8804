// The task of the Python worker, as we would declare it; our workers do not poll for it.
import { declare } from './declare.mjs'

export const python = declare('interop_python')
