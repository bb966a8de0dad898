/** The event loops of one proxy with their serving parts: buffers, limits, counters, and the settings of each part. */
@NullMarked
package io.millrace.proxy.server;

import org.jspecify.annotations.NullMarked;
