/**
 * The remap rules, which map URLs to origins: a table that each request searches once. The result depends only on
 * the URL and the received port (the local port of the client's connection). A rule for a received port adds the port
 * to the cache keys of its responses, so that all requests with one cache key have the same rule.
 */
@NullMarked
package io.millrace.proxy.remap;

import org.jspecify.annotations.NullMarked;
