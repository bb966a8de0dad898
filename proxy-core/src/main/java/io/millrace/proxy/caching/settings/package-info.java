/**
 * The parts of {@link io.millrace.proxy.caching.CacheSettings} that do not depend on stored responses, and tables of
 * status codes. Content codings are in {@code ContentCoding}.
 */
@NullMarked
package io.millrace.proxy.caching.settings;

import org.jspecify.annotations.NullMarked;
