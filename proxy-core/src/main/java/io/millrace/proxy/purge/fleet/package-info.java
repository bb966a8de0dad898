/** Purges that the nodes of a fleet share: messages, the outbox, and the position in the stream. */
@NullMarked
package io.millrace.proxy.purge.fleet;

import org.jspecify.annotations.NullMarked;
