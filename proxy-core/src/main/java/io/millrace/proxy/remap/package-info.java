/**
 * The remap rules, which map URLs to origins: a table that each request searches once. The result depends only on
 * the URL and the received port, so that all URLs with one cache key have the same rule.
 */
@NullMarked
package io.millrace.proxy.remap;

import org.jspecify.annotations.NullMarked;
