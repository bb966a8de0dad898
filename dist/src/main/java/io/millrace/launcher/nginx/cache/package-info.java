/** The translation of caching and compression: {@code proxy_cache…}, {@code gzip} and other modules for compression. */
@NullMarked
package io.millrace.launcher.nginx.cache;

import org.jspecify.annotations.NullMarked;
