package io.millrace.proxy.caching;

/**
 * What clients may ask of the cache. Immutable.
 *
 * @param ignoreNoCache whether the client's no-cache, no-store and Pragma are ignored
 * @param ignoreMaxAge whether the client's max-age is ignored
 * @param imsOnNoCache whether a client's no-cache, where it is honoured, validates the stored response rather than
 *     fetching anew
 */
public record RequestRules(boolean ignoreNoCache, boolean ignoreMaxAge, boolean imsOnNoCache) {}
