/** The cache key of a request, and whether the request may have one. */
@NullMarked
package io.millrace.proxy.caching.key;

import org.jspecify.annotations.NullMarked;
