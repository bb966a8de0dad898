/** One proxy's event loops and what serves on them: buffers, limits, counters, and the settings of each part. */
@NullMarked
package io.millrace.proxy.server;

import org.jspecify.annotations.NullMarked;
