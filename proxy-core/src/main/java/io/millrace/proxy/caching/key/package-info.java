/** The cache key of a URL, and the recognition of dynamic URLs and of requests with content. */
@NullMarked
package io.millrace.proxy.caching.key;

import org.jspecify.annotations.NullMarked;
