/** Records of purges: identifiers, clients, and a log that survives restarts. Independent of invalidation. */
@NullMarked
package io.millrace.proxy.purge.record;

import org.jspecify.annotations.NullMarked;
