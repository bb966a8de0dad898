package io.millrace.cli.warm;

import org.jspecify.annotations.Nullable;

/**
 * The parts of a response that {@code millctl cache warm} evaluates. Immutable.
 *
 * @param status the status code
 * @param cacheStatus the last line of Cache-Status; null for none
 * @param cacheControl the value of Cache-Control; null for none
 * @param setsCookie whether there is a Set-Cookie
 * @param bytes length of the content
 */
record ProxyReply(
        int status, @Nullable String cacheStatus, @Nullable String cacheControl, boolean setsCookie, long bytes) {}
