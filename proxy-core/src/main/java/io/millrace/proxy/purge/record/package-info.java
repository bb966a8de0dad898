/** Records of purges: identifiers, who asked, and the log that keeps them across restarts. Knows nothing of invalidation. */
@NullMarked
package io.millrace.proxy.purge.record;

import org.jspecify.annotations.NullMarked;
