import type { Logger } from '../base/logger.ts'
import { ContentCache } from '../workspace/cache/content-cache.ts'
import { CACHE_MAX_BYTES } from './limits.ts'

/** The content cache of a root; `undefined` if none is wanted or it cannot be opened: it can be done without. */
export function openContentCache(
  root: string,
  {
    cacheBytes = CACHE_MAX_BYTES,
    logger,
  }: { readonly cacheBytes?: number | undefined; readonly logger: Logger },
): ContentCache | undefined {
  if (cacheBytes === 0) return undefined
  try {
    return new ContentCache({ root, maxBytes: cacheBytes, logger })
  } catch (error) {
    logger.warn('the content cache could not be opened; objects are fetched without it', { error })
    return undefined
  }
}
