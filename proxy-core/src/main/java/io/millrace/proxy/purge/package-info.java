/** The one invalidation engine. */
@NullMarked
package io.millrace.proxy.purge;

import org.jspecify.annotations.NullMarked;
