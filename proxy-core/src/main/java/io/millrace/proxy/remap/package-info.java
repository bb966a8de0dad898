/**
 * The remap rules: a table that maps URLs to origins, searched once per request, with a sealed result. The result is a
 * pure function of the URL and the received port, so that all URLs with one cache key have the same rule.
 */
@NullMarked
package io.millrace.proxy.remap;

import org.jspecify.annotations.NullMarked;
