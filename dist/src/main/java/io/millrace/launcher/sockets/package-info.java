/** Listening sockets: bound by the launcher, or inherited from the service manager. */
@NullMarked
package io.millrace.launcher.sockets;

import org.jspecify.annotations.NullMarked;
