/** Membership in a fleet: the connection to NATS JetStream, purges of all nodes, and the state of the nodes. */
@NullMarked
package io.millrace.launcher.fleet;

import org.jspecify.annotations.NullMarked;
