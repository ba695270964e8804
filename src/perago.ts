/** The package's main entry: names are gathered here one by one. */

export {
  DefectError,
  ERROR_KINDS,
  EXIT_CODE,
  HTTP_STATUS,
  InvalidError,
  MissingError,
  PeragoError,
  RefusedError,
  UnavailableError,
  UncertainError,
  isPeragoError,
} from './base/errors.ts'
export type { ErrorCode, ErrorDetails, ErrorKind } from './base/errors.ts'
