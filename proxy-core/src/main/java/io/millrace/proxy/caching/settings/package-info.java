/**
 * The parts of {@link io.millrace.proxy.caching.CacheSettings} that need no stored response, and tables of status
 * codes.
 */
@NullMarked
package io.millrace.proxy.caching.settings;

import org.jspecify.annotations.NullMarked;
