/** Listening sockets: bound here, or inherited from the service manager. */
@NullMarked
package io.millrace.launcher.sockets;

import org.jspecify.annotations.NullMarked;
