// What the Python worker takes, as we would declare it; nobody of ours polls for it.
import { declare } from './declare.mjs'

export const python = declare('interop_python')
