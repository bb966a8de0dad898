/** The event loops of one proxy with their components: buffers, limits, counters and settings. */
@NullMarked
package io.millrace.proxy.server;

import org.jspecify.annotations.NullMarked;
